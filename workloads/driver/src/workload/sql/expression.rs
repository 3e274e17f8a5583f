//! Expressions of `\set` and `\if`: from text to a tree.
//!
//! Operators and their precedence are pgbench's.

use super::function::Function;
use super::token::{Token, Tokens};
use super::variable::{Names, Scalar};

/// An expression whose variables are numbers into the client's table of variables.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Constant(Scalar),
    Variable(usize),
    Call(Function, Vec<Expression>),
    /// Evaluates the second only if the first leaves the result open.
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Is(Box<Expression>, Scalar),
    Case {
        branches: Vec<(Expression, Expression)>,
        otherwise: Box<Expression>,
    },
}

/// How deep expressions may be nested: parsing and evaluating are recursive.
const DEPTH: usize = 200;

/// Reads a whole text as one expression.
pub fn parse(text: &str, names: &mut Names) -> Result<Expression, String> {
    let mut parser = Parser { tokens: Tokens::of(text)?, names, depth: 0 };
    let expression = parser.or()?;
    match parser.tokens.next() {
        None => Ok(expression),
        Some(token) => Err(format!("{token} is not expected here")),
    }
}

impl Expression {
    /// Appends the variables that the expression reads.
    pub fn variables(&self, found: &mut Vec<usize>) {
        match self {
            Expression::Constant(_) => {}
            Expression::Variable(variable) => found.push(*variable),
            Expression::Call(_, arguments) => arguments.iter().for_each(|one| one.variables(found)),
            Expression::And(left, right) | Expression::Or(left, right) => {
                left.variables(found);
                right.variables(found);
            }
            Expression::Is(inner, _) => inner.variables(found),
            Expression::Case { branches, otherwise } => {
                for (condition, value) in branches {
                    condition.variables(found);
                    value.variables(found);
                }
                otherwise.variables(found);
            }
        }
    }
}

struct Parser<'a> {
    tokens: Tokens,
    names: &'a mut Names,
    depth: usize,
}

type Parsed = Result<Expression, String>;

fn call(function: Function, arguments: impl Into<Vec<Expression>>) -> Expression {
    Expression::Call(function, arguments.into())
}

fn negated(expression: Expression) -> Expression {
    call(Function::Not, [expression])
}

impl Parser<'_> {
    fn or(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("the expression is nested more than {DEPTH} deep"));
        }
        let mut left = self.and()?;
        while self.tokens.take_word("or") {
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn and(&mut self) -> Parsed {
        let mut left = self.not()?;
        while self.tokens.take_word("and") {
            left = Expression::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed {
        let mut count = 0;
        while self.tokens.take_word("not") {
            count += 1;
        }
        let expression = self.is()?;
        Ok((0..count).fold(expression, |inner, _| negated(inner)))
    }

    fn is(&mut self) -> Parsed {
        let mut left = self.comparison()?;
        loop {
            if self.tokens.take_word("isnull") {
                left = Expression::Is(Box::new(left), Scalar::Null);
            } else if self.tokens.take_word("notnull") {
                left = negated(Expression::Is(Box::new(left), Scalar::Null));
            } else if self.tokens.take_word("is") {
                let not = self.tokens.take_word("not");
                let value = [
                    ("null", Scalar::Null),
                    ("true", Scalar::Boolean(true)),
                    ("false", Scalar::Boolean(false)),
                ]
                .into_iter()
                .find(|(word, _)| self.tokens.take_word(word))
                .ok_or("IS is followed by NULL, TRUE or FALSE")?;
                left = Expression::Is(Box::new(left), value.1);
                if not {
                    left = negated(left);
                }
            } else {
                return Ok(left);
            }
        }
    }

    fn comparison(&mut self) -> Parsed {
        let left = self.bits()?;
        let Some(operator) = self.tokens.take_symbol(&["<=", ">=", "<>", "!=", "=", "<", ">"]) else {
            return Ok(left);
        };
        let right = self.bits()?;
        Ok(match operator {
            "=" => call(Function::Equal, [left, right]),
            "<" => call(Function::Less, [left, right]),
            "<=" => call(Function::LessOrEqual, [left, right]),
            ">" => call(Function::Less, [right, left]),
            ">=" => call(Function::LessOrEqual, [right, left]),
            _ => call(Function::NotEqual, [left, right]),
        })
    }

    fn bits(&mut self) -> Parsed {
        self.left(&["<<", ">>", "|", "&", "#"], Self::sum)
    }

    fn sum(&mut self) -> Parsed {
        self.left(&["+", "-"], Self::product)
    }

    fn product(&mut self) -> Parsed {
        self.left(&["*", "/", "%"], Self::unary)
    }

    /// Operators of one rank, grouped from the left.
    fn left(&mut self, operators: &[&'static str], operand: fn(&mut Self) -> Parsed) -> Parsed {
        let mut left = operand(self)?;
        while let Some(operator) = self.tokens.take_symbol(operators) {
            let function = Function::of_operator(operator).ok_or("unknown operator")?;
            left = call(function, [left, operand(self)?]);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("the expression is nested more than {DEPTH} deep"));
        }
        let expression = match self.tokens.take_symbol(&["-", "+", "~"]) {
            None => self.operand()?,
            Some("+") => self.unary()?,
            // The smallest integer has no positive counterpart.
            Some("-") if self.tokens.take_number("9223372036854775808") => {
                Expression::Constant(Scalar::Integer(i64::MIN))
            }
            Some("-") => call(Function::Subtract, [Expression::Constant(Scalar::Integer(0)), self.unary()?]),
            Some(_) => call(Function::BitXor, [self.unary()?, Expression::Constant(Scalar::Integer(-1))]),
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn operand(&mut self) -> Parsed {
        match self.tokens.next() {
            Some(Token::Number(text)) => number(&text),
            Some(Token::Variable(name)) => Ok(Expression::Variable(self.names.intern(&name))),
            Some(Token::Symbol("(")) => {
                let inner = self.or()?;
                self.close()?;
                Ok(inner)
            }
            Some(Token::Word(word)) => match word.to_ascii_lowercase().as_str() {
                "null" => Ok(Expression::Constant(Scalar::Null)),
                "true" => Ok(Expression::Constant(Scalar::Boolean(true))),
                "false" => Ok(Expression::Constant(Scalar::Boolean(false))),
                "case" => self.case(),
                name => self.function(name, &word),
            },
            Some(token) => Err(format!("a value is expected, not {token}")),
            None => Err("the expression ends where a value is expected".into()),
        }
    }

    fn function(&mut self, name: &str, written: &str) -> Parsed {
        if self.tokens.take_symbol(&["("]).is_none() {
            return Err(format!(
                "{written} is neither a number nor a function: a variable is written :{written}"
            ));
        }
        let Some((function, allowed)) = Function::of_name(name) else {
            return Err(format!("there is no function {written}; there are {}", Function::names()));
        };
        let mut arguments = Vec::new();
        if self.tokens.take_symbol(&[")"]).is_none() {
            arguments.push(self.or()?);
            while self.tokens.take_symbol(&[","]).is_some() {
                arguments.push(self.or()?);
            }
            self.close()?;
        }
        if !allowed.contains(&arguments.len()) {
            let (least, most) = (allowed.start(), allowed.end());
            let expected = match (least, most) {
                (least, &usize::MAX) => format!("at least {least}"),
                (least, most) if least == most => least.to_string(),
                (least, most) => format!("{least} to {most}"),
            };
            return Err(format!("{written} takes {expected} arguments, not {}", arguments.len()));
        }
        if function.takes_seed() && arguments.len() == *allowed.start() {
            arguments.push(Expression::Variable(self.names.intern("default_seed")));
        }
        Ok(Expression::Call(function, arguments))
    }

    fn case(&mut self) -> Parsed {
        let mut branches = Vec::new();
        while self.tokens.take_word("when") {
            let condition = self.or()?;
            if !self.tokens.take_word("then") {
                return Err("WHEN needs its THEN".into());
            }
            branches.push((condition, self.or()?));
        }
        if branches.is_empty() {
            return Err("CASE is followed by WHEN".into());
        }
        let otherwise = match self.tokens.take_word("else") {
            true => self.or()?,
            false => Expression::Constant(Scalar::Null),
        };
        if !self.tokens.take_word("end") {
            return Err("CASE needs its END".into());
        }
        Ok(Expression::Case { branches, otherwise: Box::new(otherwise) })
    }

    fn close(&mut self) -> Result<(), String> {
        self.tokens.take_symbol(&[")"]).map(|_| ()).ok_or_else(|| "a closing ) is missing".into())
    }
}

fn number(text: &str) -> Parsed {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let value = text.parse().map_err(|_| format!("{text} is too large for an integer (64 bits)"))?;
        return Ok(Expression::Constant(Scalar::Integer(value)));
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Expression::Constant(Scalar::Double(value))),
        _ => Err(format!("{text} is not a number that a double can hold")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse(text, &mut Names::default()).expect_err(text)
    }

    #[test]
    fn multiplication_binds_before_addition_and_equal_ranks_group_from_the_left() {
        let integer = |value| Expression::Constant(Scalar::Integer(value));
        let parsed = parse("1 - 2 * 3 - 4", &mut Names::default()).unwrap();
        let product = call(Function::Multiply, [integer(2), integer(3)]);
        let left = call(Function::Subtract, [integer(1), product]);
        assert_eq!(parsed, call(Function::Subtract, [left, integer(4)]));
    }

    #[test]
    fn one_name_is_one_variable() {
        let mut names = Names::default();
        let parsed = parse(":a + :b + :a", &mut names).unwrap();
        assert_eq!(names.len(), 2);
        let inner = call(Function::Add, [Expression::Variable(0), Expression::Variable(1)]);
        assert_eq!(parsed, call(Function::Add, [inner, Expression::Variable(0)]));
    }

    #[test]
    fn errors_say_what_is_wrong_and_what_to_write() {
        assert!(refused("scale * 2").contains("a variable is written :scale"));
        assert!(refused("randon(1, 2)").contains("randon"));
        assert!(refused("random(1)").contains("takes 2 arguments, not 1"));
        assert!(refused("hash()").contains("takes 1 to 2 arguments"));
        assert!(refused("greatest()").contains("at least 1"));
        assert!(refused("(1 + 2").contains(")"));
        assert!(refused("1 +").contains("ends"));
        assert!(refused("1 2").contains("not expected"));
        assert!(refused("").contains("ends"));
        assert!(refused("9223372036854775808").contains("64 bits"));
        assert!(refused("case 1 end").contains("WHEN"));
        assert!(refused("1 is 2").contains("NULL, TRUE or FALSE"));
        assert!(refused("'text'").contains('\''));
    }

    #[test]
    fn deep_nesting_is_refused_and_not_a_crash() {
        assert!(refused(&"(".repeat(100_000)).contains("nested"));
        assert!(refused(&"-".repeat(100_000)).contains("nested"));
        assert!(refused(&"case when ".repeat(100_000)).contains("nested"));
        assert!(parse(&format!("{}1{}", "(".repeat(50), ")".repeat(50)), &mut Names::default()).is_ok());
    }
}
