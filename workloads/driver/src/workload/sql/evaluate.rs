//! The value of an expression, with pgbench's rules for types, nulls and overflow.

use super::arithmetic::{binary, boolean, double, integer};
use super::distribution;
use super::expression::Expression;
use super::function::Function;
use super::variable::{number, Names, Scalar, Variable};
use crate::workload::random::Random;

/// What an expression is evaluated in.
pub struct Context<'a> {
    pub variables: &'a [Variable],
    /// For messages.
    pub names: &'a Names,
    pub random: &'a mut Random,
}

type Result<T> = std::result::Result<T, String>;

impl Context<'_> {
    pub fn evaluate(&mut self, expression: &Expression) -> Result<Scalar> {
        Ok(match expression {
            Expression::Constant(value) => *value,
            Expression::Variable(variable) => self.variable(*variable)?,
            Expression::And(left, right) => match self.logical(left)? {
                Some(false) => Scalar::Boolean(false),
                left => match (left, self.logical(right)?) {
                    (_, Some(false)) => Scalar::Boolean(false),
                    (Some(true), Some(true)) => Scalar::Boolean(true),
                    _ => Scalar::Null,
                },
            },
            Expression::Or(left, right) => match self.logical(left)? {
                Some(true) => Scalar::Boolean(true),
                left => match (left, self.logical(right)?) {
                    (_, Some(true)) => Scalar::Boolean(true),
                    (Some(false), Some(false)) => Scalar::Boolean(false),
                    _ => Scalar::Null,
                },
            },
            Expression::Is(inner, value) => Scalar::Boolean(self.evaluate(inner)? == *value),
            Expression::Case { branches, otherwise } => {
                for (condition, value) in branches {
                    if self.holds(condition)? {
                        return self.evaluate(value);
                    }
                }
                self.evaluate(otherwise)?
            }
            Expression::Call(function, arguments) => self.call(*function, arguments)?,
        })
    }

    /// Whether a condition holds: true, or a number other than zero.
    pub fn holds(&mut self, condition: &Expression) -> Result<bool> {
        Ok(match self.evaluate(condition)? {
            Scalar::Null => false,
            Scalar::Boolean(value) => value,
            Scalar::Integer(value) => value != 0,
            Scalar::Double(value) => value != 0.0,
        })
    }

    fn variable(&self, variable: usize) -> Result<Scalar> {
        let name = || self.names.name(variable);
        match &self.variables[variable] {
            Variable::Scalar(value) => Ok(*value),
            Variable::Text(text) => {
                number(text).ok_or_else(|| format!("variable {} holds {text:?}, which is no number", name()))
            }
            Variable::Unset => Err(unset(name())),
        }
    }

    fn logical(&mut self, expression: &Expression) -> Result<Option<bool>> {
        match self.evaluate(expression)? {
            Scalar::Null => Ok(None),
            value => boolean(value).map(Some),
        }
    }

    fn call(&mut self, function: Function, arguments: &[Expression]) -> Result<Scalar> {
        // At most three arguments, but for the two functions that fold over any number.
        let mut values = [Scalar::Null; 3];
        for (place, argument) in values.iter_mut().zip(arguments) {
            *place = self.evaluate(argument)?;
        }
        let [first, second, third] = values;
        if values.iter().zip(arguments).any(|(value, _)| *value == Scalar::Null) {
            return Ok(Scalar::Null);
        }
        Ok(match function {
            Function::Greatest | Function::Least => {
                return self.extreme(function, arguments, first, second, third)
            }
            Function::Not => Scalar::Boolean(!boolean(first)?),
            Function::Abs => match first {
                Scalar::Double(value) => Scalar::Double(value.abs()),
                other => Scalar::Integer(integer(other)?.wrapping_abs()),
            },
            Function::Int => Scalar::Integer(integer(first)?),
            Function::Double => Scalar::Double(double(first)?),
            Function::Pi => Scalar::Double(std::f64::consts::PI),
            Function::Sqrt => Scalar::Double(double(first)?.sqrt()),
            Function::Ln => Scalar::Double(double(first)?.ln()),
            Function::Exp => Scalar::Double(double(first)?.exp()),
            Function::Power => Scalar::Double(double(first)?.powf(double(second)?)),
            Function::Hash | Function::HashFnv1a | Function::Permute => {
                let (value, second) = (integer(first)?, integer(second)?);
                Scalar::Integer(match function {
                    Function::Hash => distribution::murmur2(value, second),
                    Function::HashFnv1a => distribution::fnv1a(value, second),
                    _ => distribution::permute(value, second, integer(third)?)?,
                })
            }
            Function::Random => {
                Scalar::Integer(distribution::uniform(self.random, integer(first)?, integer(second)?)?)
            }
            Function::RandomExponential | Function::RandomGaussian | Function::RandomZipfian => {
                let draw = match function {
                    Function::RandomExponential => distribution::exponential,
                    Function::RandomGaussian => distribution::gaussian,
                    _ => distribution::zipfian,
                };
                Scalar::Integer(draw(self.random, integer(first)?, integer(second)?, double(third)?)?)
            }
            _ => binary(function, first, second)?,
        })
    }

    fn extreme(
        &mut self,
        function: Function,
        arguments: &[Expression],
        first: Scalar,
        second: Scalar,
        third: Scalar,
    ) -> Result<Scalar> {
        let mut best = first;
        for (index, argument) in arguments.iter().enumerate().skip(1) {
            let next = match index {
                1 => second,
                2 => third,
                _ => self.evaluate(argument)?,
            };
            best = match (best, next) {
                (Scalar::Null, _) | (_, Scalar::Null) => Scalar::Null,
                (Scalar::Double(_), _) | (_, Scalar::Double(_)) => {
                    let (one, other) = (double(best)?, double(next)?);
                    Scalar::Double(if function == Function::Greatest {
                        one.max(other)
                    } else {
                        one.min(other)
                    })
                }
                _ => {
                    let (one, other) = (integer(best)?, integer(next)?);
                    Scalar::Integer(if function == Function::Greatest {
                        one.max(other)
                    } else {
                        one.min(other)
                    })
                }
            };
        }
        Ok(match best {
            Scalar::Boolean(_) => Scalar::Integer(integer(best)?),
            best => best,
        })
    }
}

/// What is said about a variable without a value.
pub fn unset(name: &str) -> String {
    format!("variable {name} has no value: write `\\set {name} ...` before it, or give --define {name}=...")
}

#[cfg(test)]
mod tests {
    use super::super::expression::parse;
    use super::*;

    fn evaluate(text: &str) -> Result<Scalar> {
        let mut names = Names::default();
        let expression = parse(text, &mut names)?;
        let mut variables = vec![Variable::Unset; names.len()];
        for (name, value) in [
            ("one", Variable::Scalar(Scalar::Integer(1))),
            ("half", Variable::Text("0.5".into())),
            ("word", Variable::Text("word".into())),
            ("default_seed", Variable::Scalar(Scalar::Integer(5432))),
        ] {
            if let Some(place) = names.find(name) {
                variables[place] = value;
            }
        }
        let random = &mut Random::stream(1, "evaluate", 0);
        Context { variables: &variables, names: &names, random }.evaluate(&expression)
    }

    fn integers(cases: &[(&str, i64)]) {
        for (text, expected) in cases {
            assert_eq!(evaluate(text), Ok(Scalar::Integer(*expected)), "{text}");
        }
    }

    fn booleans(cases: &[(&str, Option<bool>)]) {
        for (text, expected) in cases {
            let expected = expected.map_or(Scalar::Null, Scalar::Boolean);
            assert_eq!(evaluate(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn integers_are_computed_as_integers() {
        integers(&[
            ("7 / 2", 3),
            ("-7 / 2", -3),
            ("-7 % 3", -1),
            ("2 + 3 * 4", 14),
            ("(2 + 3) * 4", 20),
            ("- - 3", 3),
            ("5 # 1 | 8 & 12", 12),
            ("1 << 4 >> 2", 4),
            ("~0", -1),
            ("mod(17, 5)", 2),
            ("abs(-17)", 17),
            ("-9223372036854775808", i64::MIN),
            ("-9223372036854775808 % -1", 0),
            ("greatest(3, 9, 4, 12, 5)", 12),
            ("least(3, 9, 4, 2, 5)", 2),
            ("int(2.5)", 2),
            ("int(3.5)", 4),
            ("7.6 % 3", 2),
            ("case when :one = 2 then 10 when :one then 20 else 30 end", 20),
        ]);
    }

    #[test]
    fn a_double_makes_the_result_a_double() {
        for (text, expected) in [
            ("7 / 2.0", 3.5),
            ("1 + :half", 1.5),
            ("sqrt(16)", 4.0),
            ("power(2, 10)", 1024.0),
            ("pow(4, 0.5)", 2.0),
            ("greatest(1, 2.5)", 2.5),
            ("double(3)", 3.0),
            ("ln(exp(2))", 2.0),
            ("abs(-1.5)", 1.5),
        ] {
            assert_eq!(evaluate(text), Ok(Scalar::Double(expected)), "{text}");
        }
    }

    #[test]
    fn conditions_know_null() {
        booleans(&[
            ("1 < 2 and 2 <= 2", Some(true)),
            ("not (1 <> 1)", Some(true)),
            ("null and false", Some(false)),
            ("null or true", Some(true)),
            ("null and true", None),
            ("null = null", None),
            ("null is null", Some(true)),
            ("1 is not null", Some(true)),
            ("1 isnull or 2 notnull", Some(true)),
            ("(1 = 1) is true", Some(true)),
            ("true = false", Some(false)),
            ("1 > 0.5", Some(true)),
            // The right side is not evaluated where the left one decides.
            ("false and 1 / 0 = 1", Some(false)),
        ]);
        assert_eq!(evaluate("1 + null"), Ok(Scalar::Null));
        assert_eq!(evaluate("case when null then 1 end"), Ok(Scalar::Null));
    }

    #[test]
    fn what_cannot_be_computed_is_an_error_that_says_why() {
        for (text, cause) in [
            ("1 / 0", "division by zero"),
            ("1 % 0", "division by zero"),
            ("9223372036854775807 + 1", "out of range"),
            ("-9223372036854775808 / -1", "out of range"),
            ("9223372036854775807 * 2", "out of range"),
            ("int(1e30)", "does not fit"),
            ("true + 1", "true is not a number"),
            ("1 and true", "1 is not true or false"),
            (":unset", "--define unset"),
            (":word", "\"word\", which is no number"),
            ("random(2, 1)", "random"),
        ] {
            let message = evaluate(text).expect_err(text);
            assert!(message.contains(cause), "{text}: {message}");
        }
        assert_eq!(evaluate("1 / 0.0"), Ok(Scalar::Double(f64::INFINITY)));
    }

    #[test]
    fn a_hash_without_a_seed_takes_the_default_seed() {
        assert_eq!(evaluate("hash(10)"), evaluate("hash_murmur2(10, 5432)"));
        assert_eq!(evaluate("permute(3, 10)"), evaluate("permute(3, 10, 5432)"));
        assert_ne!(evaluate("hash_fnv1a(10)"), evaluate("hash_fnv1a(10, 1)"));
    }
}
