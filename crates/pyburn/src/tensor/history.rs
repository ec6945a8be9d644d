//! The tensor's history: whether it has one, its gradient, its hooks.

use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use wrap_burn::Tensor;
use wrap_burn::autograd::{self, HookId};

use super::PyTensor;
use crate::args::T;
use crate::boundary::{from_py, run, to_py};

/// A registered hook; ``remove()`` takes it away again.
#[pyclass(module = "pyburn", frozen, weakref)]
pub(crate) struct RemovableHandle {
    tensor: Tensor,
    id: HookId,
}

#[pymethods]
impl RemovableHandle {
    /// Removes the hook.
    fn remove(&self) {
        self.tensor.remove_hook(self.id);
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyTuple>) {
        self.remove();
    }
}

/// A Python function as a hook.
fn hook_of(function: Py<PyAny>) -> autograd::Hook {
    Arc::new(move |grad| {
        Python::attach(|py| {
            let call = || -> PyResult<Option<Tensor>> {
                let result = function.bind(py).call1((PyTensor(grad.clone()),))?;
                if result.is_none() {
                    return Ok(None);
                }
                Ok(Some(result.extract::<T>()?.0))
            };
            call().map_err(|fault| from_py(py, fault))
        })
    })
}

#[pymethods]
impl PyTensor {
    /// Whether the tensor was made by the user rather than by a recorded operation.
    #[getter]
    fn is_leaf(&self) -> bool {
        self.0.is_leaf()
    }

    /// Whether gradients flow to this tensor.
    #[getter]
    fn get_requires_grad(&self) -> bool {
        self.0.requires_grad()
    }

    #[setter]
    fn set_requires_grad(&self, wanted: bool) -> PyResult<()> {
        self.0.set_requires_grad(wanted).map_err(to_py)
    }

    /// Sets whether gradients flow to this tensor, and returns it.
    #[pyo3(signature = (requires_grad = true))]
    fn requires_grad_(slf: Bound<'_, Self>, requires_grad: bool) -> PyResult<Bound<'_, Self>> {
        slf.get().0.set_requires_grad(requires_grad).map_err(to_py)?;
        Ok(slf)
    }

    /// The gradient that ``backward()`` has kept, or ``None``.
    #[getter]
    fn get_grad(&self) -> Option<PyTensor> {
        self.0.grad().map(PyTensor)
    }

    #[setter]
    fn set_grad(&self, grad: Option<T>) -> PyResult<()> {
        self.0.set_grad(grad.map(|arg| arg.0)).map_err(to_py)
    }

    /// The elements without the history: another tensor over the same memory.
    #[getter]
    fn get_data(&self) -> PyTensor {
        PyTensor(self.0.detach())
    }

    #[setter]
    fn set_data(&self, data: T) -> PyResult<()> {
        if self.0.requires_grad() && !data.0.dtype().is_differentiable() {
            return Err(PyRuntimeError::new_err(
                "data set to a tensor that requires gradients must be floating point or complex dtype",
            ));
        }
        self.0.set_value(data.0.value());
        Ok(())
    }

    /// The step of the tape this tensor came out of.
    #[getter]
    fn grad_fn(&self) -> Option<crate::autograd::PyNode> {
        self.0.grad_fn().map(crate::autograd::PyNode)
    }

    /// Which output of its step this tensor is.
    #[getter]
    fn output_nr(&self) -> usize {
        self.0.output_number()
    }

    /// Another tensor over the same memory, without a history.
    fn detach(&self) -> PyTensor {
        PyTensor(self.0.detach())
    }

    /// Cuts this tensor off its history.
    fn detach_(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().0.detach_().map_err(to_py)?;
        Ok(slf)
    }

    /// Asks ``backward()`` to keep this tensor's gradient although it is not a leaf.
    fn retain_grad(&self) -> PyResult<()> {
        self.0.retain_grad().map_err(to_py)
    }

    /// Whether a computed tensor's gradient is kept.
    #[getter]
    fn retains_grad(&self) -> bool {
        self.0.retains_grad()
    }

    /// Calls ``hook(grad)`` whenever a gradient of this tensor is computed; a returned tensor
    /// replaces it.
    fn register_hook(&self, hook: Py<PyAny>) -> PyResult<RemovableHandle> {
        let id = self.0.register_hook(hook_of(hook)).map_err(to_py)?;
        Ok(RemovableHandle { tensor: self.0.clone(), id })
    }

    /// Calls ``hook(tensor)`` after this leaf's gradient was accumulated.
    fn register_post_accumulate_grad_hook(&self, hook: Py<PyAny>) -> PyResult<RemovableHandle> {
        let wrapped: autograd::Hook = Arc::new(move |tensor| {
            Python::attach(|py| {
                hook.bind(py)
                    .call1((PyTensor(tensor.clone()),))
                    .map(|_| None)
                    .map_err(|fault| from_py(py, fault))
            })
        });
        let id = self.0.register_accumulated(wrapped).map_err(to_py)?;
        Ok(RemovableHandle { tensor: self.0.clone(), id })
    }

    /// Computes gradients of this tensor with respect to the leaves it depends on and adds them
    /// to the leaves' ``grad``.
    #[pyo3(signature = (gradient = None, retain_graph = None, create_graph = false, inputs = None))]
    fn backward(
        &self,
        py: Python<'_>,
        gradient: Option<T>,
        retain_graph: Option<bool>,
        create_graph: bool,
        inputs: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let inputs: Option<Vec<Tensor>> = match inputs {
            None => None,
            Some(object) => Some(match object.extract::<T>() {
                Ok(single) => vec![single.0],
                Err(_) => object.extract::<Vec<T>>()?.into_iter().map(|arg| arg.0).collect(),
            }),
        };
        let retain = retain_graph.unwrap_or(create_graph);
        let seed = [gradient.map(|arg| arg.0)];
        let root = [self.0.clone()];
        run(py, || autograd::backward(&root, &seed, retain, create_graph, inputs.as_deref()))
    }
}
