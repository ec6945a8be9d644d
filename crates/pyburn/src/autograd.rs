//! Gradients from Python: modes, `grad`, the tape's nodes, custom functions.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use wrap_burn::autograd::{self, Backward, Node, Recorded};
use wrap_burn::{Grads, Tensor};

use crate::args::T;
use crate::boundary::{from_py, run};
use crate::tensor::PyTensor;

/// A step of the tape.
#[pyclass(name = "Node", module = "pyburn.autograd", frozen)]
pub(crate) struct PyNode(pub Arc<Node>);

#[pymethods]
impl PyNode {
    /// The name of the operation's gradient.
    fn name(&self) -> String {
        self.0.name()
    }

    /// The steps the inputs came out of, with the number of their output.
    #[getter]
    fn next_functions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let edges = self.0.next_edges().into_iter().map(|edge| match edge {
            Some(edge) => (Some(PyNode(edge.node)), edge.output),
            None => (None, 0),
        });
        PyTuple::new(py, edges.collect::<Vec<_>>())
    }

    /// The leaf whose gradient this step keeps.
    #[getter]
    fn variable(&self) -> Option<PyTensor> {
        self.0.variable().cloned().map(PyTensor)
    }

    /// The leaves this step depends on.
    fn _leaves(&self) -> Vec<PyTensor> {
        let mut seen = HashSet::from([Arc::as_ptr(&self.0)]);
        let mut open = vec![self.0.clone()];
        let mut leaves = Vec::new();
        while let Some(node) = open.pop() {
            leaves.extend(node.variable().cloned().map(PyTensor));
            for edge in node.next_edges().into_iter().flatten() {
                if seen.insert(Arc::as_ptr(&edge.node)) {
                    open.push(edge.node);
                }
            }
        }
        leaves
    }

    fn __repr__(&self) -> String {
        format!("<{} object at {:#x}>", self.0.name(), Arc::as_ptr(&self.0) as usize)
    }
}

/// Whether operations are recorded for gradients.
#[pyfunction]
fn is_grad_enabled() -> bool {
    autograd::grad_enabled()
}

/// Sets whether operations are recorded, and gives what was set before.
#[pyfunction]
fn _set_grad_enabled(enabled: bool) -> bool {
    autograd::set_grad(enabled)
}

/// Whether inference mode is on.
#[pyfunction]
fn is_inference_mode_enabled() -> bool {
    autograd::inference_enabled()
}

/// Sets inference mode, and gives what was set before.
#[pyfunction]
fn _set_inference_mode(enabled: bool) -> bool {
    autograd::set_inference(enabled)
}

/// Whether backward passes look for NaN.
#[pyfunction]
fn is_anomaly_enabled() -> bool {
    autograd::anomaly_enabled()
}

/// Sets whether backward passes look for NaN, and gives what was set before.
#[pyfunction]
fn _set_anomaly(enabled: bool) -> bool {
    autograd::set_anomaly(enabled)
}

/// The gradients of several outputs, added to the leaves' `grad`.
#[pyfunction]
fn _backward(
    py: Python<'_>,
    tensors: Vec<T>,
    gradients: Vec<Option<T>>,
    retain_graph: bool,
    create_graph: bool,
    inputs: Option<Vec<T>>,
) -> PyResult<()> {
    let tensors: Vec<Tensor> = tensors.into_iter().map(|arg| arg.0).collect();
    let seeds: Vec<Option<Tensor>> = gradients.into_iter().map(|arg| arg.map(|t| t.0)).collect();
    let inputs: Option<Vec<Tensor>> =
        inputs.map(|list| list.into_iter().map(|arg| arg.0).collect());
    run(py, || autograd::backward(&tensors, &seeds, retain_graph, create_graph, inputs.as_deref()))
}

/// The gradients of outputs with respect to inputs.
#[pyfunction]
fn _grad(
    py: Python<'_>,
    outputs: Vec<T>,
    inputs: Vec<T>,
    gradients: Vec<Option<T>>,
    retain_graph: bool,
    create_graph: bool,
) -> PyResult<Vec<Option<PyTensor>>> {
    let outputs: Vec<Tensor> = outputs.into_iter().map(|arg| arg.0).collect();
    let inputs: Vec<Tensor> = inputs.into_iter().map(|arg| arg.0).collect();
    let seeds: Vec<Option<Tensor>> = gradients.into_iter().map(|arg| arg.map(|t| t.0)).collect();
    let grads = run(py, || autograd::grad(&outputs, &inputs, &seeds, retain_graph, create_graph))?;
    Ok(grads.into_iter().map(|grad| grad.map(PyTensor)).collect())
}

/// A `Function` written in Python as a step of the tape: the class's `backward` and its context.
struct PyRule {
    class: Py<PyAny>,
    context: Py<PyAny>,
    name: String,
    saved: Mutex<Option<Vec<Option<Recorded>>>>,
}

impl Backward for PyRule {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn apply(
        &self,
        node: &Arc<Node>,
        grads: &[Option<Tensor>],
        needs: &[bool],
    ) -> wrap_burn::Result<Grads> {
        let restored = match self.saved.lock().as_ref() {
            Some(saved) => saved
                .iter()
                // Functions may ask a saved tensor whether it requires a gradient.
                .map(|slot| slot.as_ref().map(|recorded| recorded.restore(node, true)).transpose())
                .collect::<wrap_burn::Result<Vec<_>>>()?,
            None => {
                return Err(wrap_burn::error!(
                    Runtime,
                    "{}: trying to backward through the graph a second time; hint: specify \
                     retain_graph=True when calling backward the first time",
                    self.name
                ));
            }
        };
        Python::attach(|py| {
            let call = || -> PyResult<Grads> {
                let grads: Vec<Option<PyTensor>> =
                    grads.iter().cloned().map(|g| g.map(PyTensor)).collect();
                let restored: Vec<Option<PyTensor>> =
                    restored.into_iter().map(|t| t.map(PyTensor)).collect();
                let result = self.class.bind(py).call_method1(
                    "_run_backward",
                    (
                        self.context.bind(py),
                        PyTuple::new(py, restored)?,
                        PyTuple::new(py, grads)?,
                        needs.to_vec(),
                    ),
                )?;
                result
                    .try_iter()?
                    .map(|item| Ok(item?.extract::<Option<T>>()?.map(|arg| arg.0)))
                    .collect()
            };
            call().map_err(|fault| from_py(py, fault))
        })
    }

    fn release(&self) {
        *self.saved.lock() = None;
    }
}

/// Records a Python function: `inputs` are its tensor arguments, `outputs` fresh results.
#[pyfunction]
fn _record_function(
    class: Py<PyAny>,
    context: Py<PyAny>,
    name: String,
    inputs: Vec<T>,
    outputs: Vec<T>,
    differentiable: Vec<bool>,
    saved: Vec<Option<T>>,
) -> PyResult<bool> {
    let inputs: Vec<Tensor> = inputs.into_iter().map(|arg| arg.0).collect();
    let outputs: Vec<Tensor> = outputs.into_iter().map(|arg| arg.0).collect();
    // An output that the function saved refers to the very node that saves it.
    let saved = saved
        .into_iter()
        .map(|slot| {
            slot.map(|T(tensor)| match outputs.iter().position(|output| output.is(&tensor)) {
                Some(at) => Recorded::own(&tensor, at),
                None => Recorded::input(&tensor),
            })
        })
        .collect();
    let rule = PyRule { class, context, name, saved: Mutex::new(Some(saved)) };
    let refs: Vec<&Tensor> = inputs.iter().collect();
    Ok(autograd::record_custom(Box::new(rule), &refs, &outputs, &differentiable).is_some())
}

/// Where the current Python code is, for anomaly mode.
fn describe_origin() -> String {
    Python::attach(|py| {
        let text = || -> PyResult<String> {
            let lines = py.import("traceback")?.call_method0("format_stack")?;
            "".into_pyobject(py)?.call_method1("join", (lines,))?.extract()
        };
        text().unwrap_or_default()
    })
}

/// Adds the module's functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    autograd::set_origin_source(describe_origin);
    module.add_class::<PyNode>()?;
    module.add_function(wrap_pyfunction!(is_grad_enabled, module)?)?;
    module.add_function(wrap_pyfunction!(_set_grad_enabled, module)?)?;
    module.add_function(wrap_pyfunction!(is_inference_mode_enabled, module)?)?;
    module.add_function(wrap_pyfunction!(_set_inference_mode, module)?)?;
    module.add_function(wrap_pyfunction!(is_anomaly_enabled, module)?)?;
    module.add_function(wrap_pyfunction!(_set_anomaly, module)?)?;
    module.add_function(wrap_pyfunction!(_backward, module)?)?;
    module.add_function(wrap_pyfunction!(_grad, module)?)?;
    module.add_function(wrap_pyfunction!(_record_function, module)?)?;
    Ok(())
}
