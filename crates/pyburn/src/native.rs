//! The engine's functions as plain module functions, one line each: arguments converted, the
//! interpreter released, results wrapped. The Python package gives them their public names,
//! defaults and documentation.

use pyo3::prelude::*;
use wrap_burn::Tensor;

use crate::args::T;
use crate::tensor::PyTensor;

/// A result of the engine as a Python object.
pub(crate) trait ToPy {
    /// Converts.
    fn to_py(self, py: Python<'_>) -> PyResult<Py<PyAny>>;
}

impl ToPy for Tensor {
    fn to_py(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(Py::new(py, PyTensor(self))?.into_any())
    }
}

impl ToPy for bool {
    fn to_py(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(pyo3::types::PyBool::new(py, self).to_owned().into_any().unbind())
    }
}

impl ToPy for () {
    fn to_py(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(py.None())
    }
}

macro_rules! numbers_to_py {
    ($($number:ty),*) => {
        $(impl ToPy for $number {
            fn to_py(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                Ok(self.into_pyobject(py)?.into_any().unbind())
            }
        })*
    };
}

numbers_to_py!(u64, i64, usize, f64, String);

impl<T: ToPy> ToPy for Option<T> {
    fn to_py(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.map_or_else(|| Ok(py.None()), |value| value.to_py(py))
    }
}

impl<T: ToPy> ToPy for Vec<T> {
    fn to_py(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let items = self.into_iter().map(|item| item.to_py(py)).collect::<PyResult<Vec<_>>>()?;
        Ok(pyo3::types::PyTuple::new(py, items)?.into_any().unbind())
    }
}

macro_rules! tuples_to_py {
    ($($($name:ident)*;)*) => {
        $(impl<$($name: ToPy),*> ToPy for ($($name,)*) {
            #[allow(non_snake_case, reason = "one name serves as type and variable")]
            fn to_py(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                let ($($name,)*) = self;
                let items = [$($name.to_py(py)?),*];
                Ok(pyo3::types::PyTuple::new(py, items)?.into_any().unbind())
            }
        })*
    };
}

tuples_to_py! {
    A B;
    A B C;
    A B C D;
}

/// Declares module functions: `fn name(first, other: Type) => expression;`. The first argument is
/// a tensor and decides whether the interpreter is released; further tensors are `T`, their engine
/// tensor is `.0`. The stubs' generator reads the result's type off the engine's method that the
/// expression ends with; where it cannot, the line says it: `fn name(first) -> Type => expression;`.
/// The expression leaves its arguments where they are, for errors to name their shapes.
macro_rules! native {
    // In autocast, converts the tensors of the arguments, as the function's name asks for.
    (@begin $py:ident $name:ident; $($arg:ident)*) => {
        if wrap_burn::autocast::active() {
            #[allow(unused_imports, reason = "not every function has both kinds of arguments")]
            use $crate::autocast::{HasTensors as _, NoTensors as _};
            let mut found = Vec::new();
            $((&mut $arg).tensors(&mut found);)*
            $crate::autocast::begin($py, stringify!($name), found)?
        } else {
            None
        }
    };
    // Runs a body; what it refuses names the shapes of the arguments.
    (@named ($found:expr) $($arg:ident)*; $body:expr) => {{
        #[allow(unused_imports, reason = "not every function has further arguments")]
        use $crate::shapes::{HasShapes as _, NoShapes as _};
        // A closure of its own, because bodies return early.
        #[allow(clippy::redundant_closure_call, reason = "as above")]
        (|| $body)().map_err(|error| {
            let found = $found;
            $(let found = (&$arg).shapes(found);)*
            found.name(error)
        })
    }};
    ($($(#[$meta:meta])* fn $name:ident ( $first:ident $(, $arg:ident : $ty:ty)* $(,)? ) $(-> $result:ty)? => $body:expr ;)*) => {
        $(
            #[pyo3::pyfunction]
            $(#[$meta])*
            #[allow(clippy::too_many_arguments, reason = "the engine's functions have as many")]
            pub(super) fn $name(
                py: pyo3::Python<'_>,
                #[allow(unused_mut)] mut $first: $crate::args::T,
                $(#[allow(unused_mut)] mut $arg: $ty),*
            ) -> pyo3::PyResult<pyo3::Py<pyo3::PyAny>> {
                let _given = native!(@begin py $name; $first $($arg)*);
                let $first = &$first.0;
                let result $(: $result)? = $crate::boundary::on(py, $first, || {
                    native!(@named ($crate::shapes::Shapes::default().see($first)) $($arg)*; $body)
                })?;
                $crate::native::ToPy::to_py(result, py)
            }
        )*

        pub(super) fn register(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
            use pyo3::types::PyModuleMethods;
            $(module.add_function(pyo3::wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

/// The same for functions that take no tensor first; their arguments are converted as declared.
macro_rules! native_free {
    ($($(#[$meta:meta])* fn $name:ident ( $($arg:ident : $ty:ty),* $(,)? ) $(-> $result:ty)? => $body:expr ;)*) => {
        $(
            #[pyo3::pyfunction]
            #[allow(clippy::too_many_arguments, reason = "the engine's functions have as many")]
            $(#[$meta])*
            pub(super) fn $name(
                py: pyo3::Python<'_>,
                $(#[allow(unused_mut)] mut $arg: $ty),*
            ) -> pyo3::PyResult<pyo3::Py<pyo3::PyAny>> {
                let _given = native!(@begin py $name; $($arg)*);
                let result $(: $result)? = $crate::boundary::run(py, || {
                    native!(@named ($crate::shapes::Shapes::default()) $($arg)*; $body)
                })?;
                $crate::native::ToPy::to_py(result, py)
            }
        )*

        pub(super) fn register_free(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
            use pyo3::types::PyModuleMethods;
            $(module.add_function(pyo3::wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

/// Non-negative sizes of a new tensor.
pub(super) struct Sizes(pub(super) Vec<usize>);

impl<'a, 'py> FromPyObject<'a, 'py> for Sizes {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        crate::args::shape_of("size", &object.extract::<crate::args::Ints>()?.0).map(Sizes)
    }
}

/// The engine's tensors out of a list argument.
fn tensors(list: &[T]) -> Vec<Tensor> {
    list.iter().map(|argument| argument.0.clone()).collect()
}

mod arrange;
mod basic;
mod blend;
mod fft;
mod linalg;
mod nn;
mod optim;
mod order;
mod pick;
mod random;
mod sequence;
mod vision;

/// Adds every function to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<random::PyGenerator>()?;
    module.add_function(wrap_pyfunction!(random::default_generator, module)?)?;
    basic::register(module)?;
    vision::register(module)?;
    arrange::register(module)?;
    arrange::register_free(module)?;
    blend::register(module)?;
    fft::register(module)?;
    fft::register_free(module)?;
    linalg::register(module)?;
    linalg::register_free(module)?;
    module.add_class::<optim::PySlots>()?;
    module.add_function(wrap_pyfunction!(optim::optim_slots, module)?)?;
    nn::register(module)?;
    optim::register_free(module)?;
    order::register(module)?;
    pick::register(module)?;
    random::register(module)?;
    random::register_free(module)?;
    sequence::register(module)
}
