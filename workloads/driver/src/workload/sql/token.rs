//! Words, numbers and symbols of an expression.

use std::fmt;

use super::variable::{begins_name, continues_name};

#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// An unsigned number as it was written.
    Number(String),
    /// The name after a colon.
    Variable(String),
    Word(String),
    Symbol(&'static str),
}

/// Longer symbols stand before those that they begin with.
const SYMBOLS: [&str; 21] = [
    "<=", ">=", "<>", "!=", "<<", ">>", "+", "-", "*", "/", "%", "=", "<", ">", "|", "&", "#", "~", "(", ")",
    ",",
];

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Number(text) | Token::Word(text) => write!(f, "{text}"),
            Token::Variable(name) => write!(f, ":{name}"),
            Token::Symbol(symbol) => write!(f, "'{symbol}'"),
        }
    }
}

/// The tokens of one expression, taken from the front.
pub struct Tokens(std::iter::Peekable<std::vec::IntoIter<Token>>);

impl Tokens {
    pub fn of(text: &str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if begins_name(first) {
                let length = length_while(rest, continues_name);
                tokens.push(Token::Word(rest[..length].into()));
                length
            } else if first.is_ascii_digit()
                || first == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit())
            {
                let length = number_length(rest);
                tokens.push(Token::Number(rest[..length].into()));
                length
            } else if first == ':' && rest[1..].starts_with(begins_name) {
                let length = 1 + length_while(&rest[1..], continues_name);
                tokens.push(Token::Variable(rest[1..length].into()));
                length
            } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                tokens.push(Token::Symbol(symbol));
                symbol.len()
            } else {
                return Err(format!("{first} does not belong into an expression"));
            };
            rest = rest[length..].trim_start();
        }
        Ok(Tokens(tokens.into_iter().peekable()))
    }

    pub fn next(&mut self) -> Option<Token> {
        self.0.next()
    }

    /// Takes the next token if it is this word, in whatever case.
    pub fn take_word(&mut self, word: &str) -> bool {
        self.0
            .next_if(|token| matches!(token, Token::Word(text) if text.eq_ignore_ascii_case(word)))
            .is_some()
    }

    pub fn take_number(&mut self, number: &str) -> bool {
        self.0.next_if(|token| matches!(token, Token::Number(text) if text == number)).is_some()
    }

    /// Takes the next token if it is one of these symbols.
    pub fn take_symbol(&mut self, symbols: &[&'static str]) -> Option<&'static str> {
        match self.0.next_if(|token| matches!(token, Token::Symbol(symbol) if symbols.contains(symbol)))? {
            Token::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }
}

fn length_while(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character)).unwrap_or(text.len())
}

/// Digits, a fraction, an exponent.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| from + length_while(&text[from..], |c| c.is_ascii_digit());
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let mut tokens = Tokens::of(text).unwrap();
        std::iter::from_fn(|| tokens.next()).collect()
    }

    #[test]
    fn numbers_have_fractions_and_exponents() {
        for number in ["0", "12", "1.5", ".5", "2.", "1e3", "1.5E-3"] {
            assert_eq!(tokens(number), [Token::Number(number.into())]);
        }
        assert_eq!(tokens("1e"), [Token::Number("1".into()), Token::Word("e".into())]);
    }

    #[test]
    fn the_longest_symbol_wins() {
        assert_eq!(
            tokens(":a<=:b_1<<2"),
            [
                Token::Variable("a".into()),
                Token::Symbol("<="),
                Token::Variable("b_1".into()),
                Token::Symbol("<<"),
                Token::Number("2".into())
            ]
        );
    }

    #[test]
    fn what_is_no_token_is_named() {
        assert!(Tokens::of("1 ? 2").err().unwrap().starts_with('?'));
        assert!(Tokens::of("a ; b").err().unwrap().starts_with(';'));
        assert!(Tokens::of(": a").err().unwrap().starts_with(':'));
    }
}
