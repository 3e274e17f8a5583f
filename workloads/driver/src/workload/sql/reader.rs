//! The text of a script, read piece by piece: blanks, comments and quotes as the engine has them, and lines counted.

use super::variable::{begins_name, continues_name};
use crate::engine::Dialect;
use crate::failure::{Exit, Failure};

/// A place in a script, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub script: String,
    pub line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.script, self.line)
    }
}

impl Place {
    /// A failure because of what stands here.
    pub fn wrong(&self, message: impl std::fmt::Display) -> Failure {
        Failure::new(Exit::Arguments, "InvalidScript", format!("{self}: {message}"))
    }
}

/// The text of a script from where it has been read to.
pub struct Reader<'a> {
    script: &'a str,
    pub rest: &'a str,
    line: usize,
    /// Backslashes escape in all strings, which may be in double quotes; `#` begins a comment.
    pub mysql: bool,
}

impl<'a> Reader<'a> {
    /// `script` is the name of the script.
    pub fn new(script: &'a str, text: &'a str, dialect: Dialect) -> Self {
        Reader { script, rest: text, line: 1, mysql: dialect == Dialect::MySql }
    }

    pub fn place(&self) -> Place {
        Place { script: self.script.into(), line: self.line }
    }

    pub fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
        taken
    }

    /// Takes up to and including `end`, which has to come.
    pub fn take_through(&mut self, from: usize, end: &str, what: &str) -> Result<&'a str, Failure> {
        match self.rest[from..].find(end) {
            Some(found) => Ok(self.take(from + found + end.len())),
            None => Err(self.place().wrong(format!("{what} that begins here does not end"))),
        }
    }

    /// Skips white space and comments.
    pub fn skip_blank(&mut self) -> Result<(), Failure> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.take(blank);
            if self.at_line_comment() {
                self.line_comment();
            } else if self.rest.starts_with("/*") {
                self.block_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    pub fn at_line_comment(&self) -> bool {
        match self.rest.strip_prefix("--") {
            // In MySQL two minuses without a blank behind them are just that.
            Some(behind) => !self.mysql || behind.chars().next().is_none_or(char::is_whitespace),
            None => self.mysql && self.rest.starts_with('#'),
        }
    }

    pub fn line_comment(&mut self) {
        self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
    }

    /// Takes a comment, with those that are nested in it (MySQL nests none).
    pub fn block_comment(&mut self) -> Result<&'a str, Failure> {
        if self.mysql {
            return self.take_through(2, "*/", "the comment");
        }
        let mut depth = 0;
        let mut at = 0;
        while at < self.rest.len() {
            let tail = &self.rest.as_bytes()[at..];
            if tail.starts_with(b"/*") {
                depth += 1;
                at += 2;
            } else if tail.starts_with(b"*/") {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Ok(self.take(at));
                }
            } else {
                at += 1;
            }
        }
        Err(self.place().wrong("the comment that begins here does not end"))
    }

    /// A string in which a backslash escapes the character behind it.
    pub fn escape_string(&mut self, quote: char) -> Result<&'a str, Failure> {
        let mut escaped = true; // the opening quote
        for (at, byte) in self.rest.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                byte if char::from(byte) == quote => return Ok(self.take(at + 1)),
                _ => {}
            }
        }
        Err(self.place().wrong("the string that begins here does not end"))
    }
}

/// Whether the `E` at the end of the text stands alone, as the prefix of a string.
pub fn escape_prefix(text: &str) -> bool {
    !text.chars().rev().nth(1).is_some_and(continues_name)
}

/// The opening `$tag$` of a dollar-quoted string.
pub fn dollar_quote(text: &str) -> Option<&str> {
    let end = 1 + text[1..].find('$')?;
    let tag = &text[1..end];
    let valid = tag.is_empty() || tag.starts_with(begins_name) && tag.chars().all(continues_name);
    valid.then(|| &text[..=end])
}
