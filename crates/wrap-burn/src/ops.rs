//! The ops, one file per family. An op is described once, as a [`Primitive`](crate::Primitive).

pub mod binary;
pub mod compare;
pub mod complex;
pub mod convert;
pub mod create;
pub mod index;
pub mod join;
pub mod matmul;
pub mod reduce;
pub mod scan;
pub mod ternary;
pub mod unary;
pub mod view;
