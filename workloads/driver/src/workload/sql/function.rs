//! Operators and functions of expressions: their names and their numbers of arguments.

use std::ops::RangeInclusive;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Not,
    Abs,
    Double,
    Exp,
    Greatest,
    Hash,
    HashFnv1a,
    Int,
    Least,
    Ln,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// Function names, with how many arguments each takes as it is written.
const NAMES: [(&str, Function, RangeInclusive<usize>); 20] = [
    ("abs", Function::Abs, 1..=1),
    ("double", Function::Double, 1..=1),
    ("exp", Function::Exp, 1..=1),
    ("greatest", Function::Greatest, 1..=usize::MAX),
    ("hash", Function::Hash, 1..=2),
    ("hash_murmur2", Function::Hash, 1..=2),
    ("hash_fnv1a", Function::HashFnv1a, 1..=2),
    ("int", Function::Int, 1..=1),
    ("least", Function::Least, 1..=usize::MAX),
    ("ln", Function::Ln, 1..=1),
    ("mod", Function::Modulo, 2..=2),
    ("permute", Function::Permute, 2..=3),
    ("pi", Function::Pi, 0..=0),
    ("pow", Function::Power, 2..=2),
    ("power", Function::Power, 2..=2),
    ("random", Function::Random, 2..=2),
    ("random_exponential", Function::RandomExponential, 3..=3),
    ("random_gaussian", Function::RandomGaussian, 3..=3),
    ("random_zipfian", Function::RandomZipfian, 3..=3),
    ("sqrt", Function::Sqrt, 1..=1),
];

impl Function {
    /// The function with this name, and how many arguments it takes.
    pub fn of_name(name: &str) -> Option<(Function, RangeInclusive<usize>)> {
        NAMES.iter().find(|(known, ..)| *known == name).map(|(_, function, arity)| (*function, arity.clone()))
    }

    /// The names of all functions, for messages.
    pub fn names() -> String {
        NAMES.map(|(name, ..)| name).join(", ")
    }

    /// Whether a seed is added as last argument where none is given.
    pub fn takes_seed(self) -> bool {
        matches!(self, Function::Hash | Function::HashFnv1a | Function::Permute)
    }

    pub fn of_operator(operator: &str) -> Option<Function> {
        Some(match operator {
            "+" => Function::Add,
            "-" => Function::Subtract,
            "*" => Function::Multiply,
            "/" => Function::Divide,
            "%" => Function::Modulo,
            "|" => Function::BitOr,
            "&" => Function::BitAnd,
            "#" => Function::BitXor,
            "<<" => Function::ShiftLeft,
            ">>" => Function::ShiftRight,
            _ => return None,
        })
    }
}
