//! Operators on two values, and what a value is as another type, with pgbench's rules.

use super::function::Function;
use super::variable::Scalar;

type Result<T> = std::result::Result<T, String>;

/// An operator on two values that are not null.
pub fn binary(function: Function, left: Scalar, right: Scalar) -> Result<Scalar> {
    let doubles = matches!(left, Scalar::Double(_)) || matches!(right, Scalar::Double(_));
    if let (Scalar::Boolean(one), Scalar::Boolean(other)) = (left, right) {
        match function {
            Function::Equal => return Ok(Scalar::Boolean(one == other)),
            Function::NotEqual => return Ok(Scalar::Boolean(one != other)),
            _ => {}
        }
    }
    if doubles && !is_integral(function) {
        let (left, right) = (double(left)?, double(right)?);
        return Ok(match function {
            Function::Add => Scalar::Double(left + right),
            Function::Subtract => Scalar::Double(left - right),
            Function::Multiply => Scalar::Double(left * right),
            Function::Divide => Scalar::Double(left / right),
            Function::Equal => Scalar::Boolean(left == right),
            Function::NotEqual => Scalar::Boolean(left != right),
            Function::Less => Scalar::Boolean(left < right),
            _ => Scalar::Boolean(left <= right),
        });
    }
    let (left, right) = (integer(left)?, integer(right)?);
    let checked = |value: Option<i64>, what: &str| value.ok_or_else(|| format!("{what} is out of range"));
    Ok(Scalar::Integer(match function {
        Function::Add => checked(left.checked_add(right), "a sum of 64-bit integers")?,
        Function::Subtract => checked(left.checked_sub(right), "a difference of 64-bit integers")?,
        Function::Multiply => checked(left.checked_mul(right), "a product of 64-bit integers")?,
        Function::Divide | Function::Modulo if right == 0 => return Err("division by zero".into()),
        Function::Divide => checked(left.checked_div(right), "a quotient of 64-bit integers")?,
        Function::Modulo => left.wrapping_rem(right),
        Function::BitAnd => left & right,
        Function::BitOr => left | right,
        Function::BitXor => left ^ right,
        // A shift takes the distance modulo 64, as the processor does.
        Function::ShiftLeft => left.wrapping_shl(right as u32),
        Function::ShiftRight => left.wrapping_shr(right as u32),
        Function::Equal => return Ok(Scalar::Boolean(left == right)),
        Function::NotEqual => return Ok(Scalar::Boolean(left != right)),
        Function::Less => return Ok(Scalar::Boolean(left < right)),
        _ => return Ok(Scalar::Boolean(left <= right)),
    }))
}

/// Operators that make integers of their operands.
fn is_integral(function: Function) -> bool {
    matches!(
        function,
        Function::Modulo
            | Function::BitAnd
            | Function::BitOr
            | Function::BitXor
            | Function::ShiftLeft
            | Function::ShiftRight
    )
}

/// The truth value that this is.
pub fn boolean(value: Scalar) -> Result<bool> {
    match value {
        Scalar::Boolean(value) => Ok(value),
        other => Err(format!("{} is not true or false", describe(other))),
    }
}

/// The number as an integer; a double is rounded to the next one, halves to even ones.
pub fn integer(value: Scalar) -> Result<i64> {
    match value {
        Scalar::Integer(value) => Ok(value),
        Scalar::Double(value) => {
            let rounded = value.round_ties_even();
            if (-TWO_TO_63..TWO_TO_63).contains(&rounded) {
                Ok(rounded as i64)
            } else {
                Err(format!("{value} does not fit into a 64-bit integer"))
            }
        }
        other => Err(format!("{} is not a number", describe(other))),
    }
}

/// A 64-bit integer is at least minus this and below this.
const TWO_TO_63: f64 = (1u64 << 63) as f64;

/// The number as a double.
pub fn double(value: Scalar) -> Result<f64> {
    match value {
        Scalar::Double(value) => Ok(value),
        Scalar::Integer(value) => Ok(value as f64),
        other => Err(format!("{} is not a number", describe(other))),
    }
}

fn describe(value: Scalar) -> String {
    match value {
        Scalar::Null => "null".into(),
        Scalar::Boolean(value) => value.to_string(),
        Scalar::Integer(value) => value.to_string(),
        Scalar::Double(value) => value.to_string(),
    }
}
