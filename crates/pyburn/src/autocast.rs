//! Autocast from Python: its switches, and functions that are made of several ops.

use pyo3::prelude::*;
use wrap_burn::autocast::{self, Kind, Paused};
use wrap_burn::ops::binary::Operand;
use wrap_burn::{Device, Tensor, bail};

use crate::args::{Op, T};
use crate::boundary::{run, to_py};
use crate::dtype::{DTypeArg, DeviceArg, PyDType};
use crate::tensor::PyTensor;

fn kind_of(device: Device) -> PyResult<Kind> {
    let kind = || match Kind::of(device) {
        Some(kind) => Ok(kind),
        None => bail!(Runtime, "autocast: {device} computes nothing; expected cpu, wgpu or cuda"),
    };
    kind().map_err(to_py)
}

/// Whether operations choose their dtypes on any kind of device.
#[pyfunction]
fn _autocast_active() -> bool {
    autocast::active()
}

/// Whether operations choose their dtypes on this kind of device.
#[pyfunction]
fn _autocast_enabled(device: DeviceArg) -> PyResult<bool> {
    Ok(autocast::enabled(kind_of(device.0)?))
}

/// Sets that, and gives what was set before.
#[pyfunction]
fn _set_autocast_enabled(device: DeviceArg, enabled: bool) -> PyResult<bool> {
    Ok(autocast::set_enabled(kind_of(device.0)?, enabled))
}

/// The narrow dtype of a kind of device.
#[pyfunction]
fn _autocast_dtype(device: DeviceArg) -> PyResult<PyDType> {
    Ok(PyDType(autocast::dtype(kind_of(device.0)?)))
}

/// Sets that, and gives what was set before.
#[pyfunction]
fn _set_autocast_dtype(device: DeviceArg, dtype: DTypeArg) -> PyResult<PyDType> {
    Ok(PyDType(autocast::set_dtype(kind_of(device.0)?, dtype.0)))
}

/// Whether a weight that several operations take is converted once.
#[pyfunction]
fn _autocast_caching() -> bool {
    autocast::caching()
}

/// Sets that, and gives what was set before.
#[pyfunction]
fn _set_autocast_caching(enabled: bool) -> bool {
    autocast::set_caching(enabled)
}

/// Enters a region; gives how many the thread is in.
#[pyfunction]
fn _enter_autocast() -> u32 {
    autocast::enter()
}

/// Leaves a region; gives how many the thread is still in.
#[pyfunction]
fn _leave_autocast() -> u32 {
    autocast::leave()
}

/// Lets go of converted weights.
#[pyfunction]
fn _clear_autocast_cache() {
    autocast::clear_cache();
}

/// Pauses autocast; gives what ends the pause.
#[pyfunction]
fn _pause_autocast() -> u32 {
    Paused::new().map_or(0, Paused::keep)
}

/// Ends a pause.
#[pyfunction]
fn _resume_autocast(before: u32) {
    autocast::resume(before);
}

/// The tensors as a function of this name takes them, and what ends the pause that it runs in;
/// `None` for a function that leaves it to the operations it is made of.
#[pyfunction]
fn _begin_autocast(
    py: Python<'_>,
    function: &str,
    tensors: Vec<T>,
) -> PyResult<Option<(Vec<PyTensor>, u32)>> {
    let mut tensors: Vec<Tensor> = tensors.into_iter().map(|argument| argument.0).collect();
    let paused = run(py, || {
        let mut places: Vec<&mut Tensor> = tensors.iter_mut().collect();
        // Kept within the call: this may run on the thread it was called on only.
        Ok(autocast::begin(function, &mut places)?.map(Paused::keep))
    })?;
    Ok(paused.map(|before| (tensors.into_iter().map(PyTensor).collect(), before)))
}

/// Begins a function of this name with the tensors of its arguments: see [`autocast::begin`].
pub(crate) fn begin(
    py: Python<'_>,
    function: &str,
    mut tensors: Vec<&mut Tensor>,
) -> PyResult<Option<Paused>> {
    run(py, || autocast::begin(function, &mut tensors))
}

/// An argument that holds tensors.
pub(crate) trait HasTensors {
    /// Adds them.
    fn tensors<'a>(&'a mut self, found: &mut Vec<&'a mut Tensor>);
}

impl HasTensors for T {
    fn tensors<'a>(&'a mut self, found: &mut Vec<&'a mut Tensor>) {
        found.push(&mut self.0);
    }
}

impl HasTensors for Op {
    fn tensors<'a>(&'a mut self, found: &mut Vec<&'a mut Tensor>) {
        if let Operand::Tensor(tensor) = &mut self.0 {
            found.push(tensor);
        }
    }
}

impl<A: HasTensors> HasTensors for Option<A> {
    fn tensors<'a>(&'a mut self, found: &mut Vec<&'a mut Tensor>) {
        self.iter_mut().for_each(|argument| argument.tensors(found));
    }
}

impl<A: HasTensors> HasTensors for Vec<A> {
    fn tensors<'a>(&'a mut self, found: &mut Vec<&'a mut Tensor>) {
        self.iter_mut().for_each(|argument| argument.tensors(found));
    }
}

/// Any other argument. Written `(&mut argument).tensors(..)`, a call finds [`HasTensors`] first and
/// this after one more reference, so that macros need not know which of both an argument is.
pub(crate) trait NoTensors {
    /// Adds nothing.
    fn tensors(&self, _found: &mut Vec<&mut Tensor>) {}
}

impl<A> NoTensors for &mut A {}

/// Adds the module's functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_autocast_active, module)?)?;
    module.add_function(wrap_pyfunction!(_autocast_enabled, module)?)?;
    module.add_function(wrap_pyfunction!(_set_autocast_enabled, module)?)?;
    module.add_function(wrap_pyfunction!(_autocast_dtype, module)?)?;
    module.add_function(wrap_pyfunction!(_set_autocast_dtype, module)?)?;
    module.add_function(wrap_pyfunction!(_autocast_caching, module)?)?;
    module.add_function(wrap_pyfunction!(_set_autocast_caching, module)?)?;
    module.add_function(wrap_pyfunction!(_enter_autocast, module)?)?;
    module.add_function(wrap_pyfunction!(_leave_autocast, module)?)?;
    module.add_function(wrap_pyfunction!(_clear_autocast_cache, module)?)?;
    module.add_function(wrap_pyfunction!(_pause_autocast, module)?)?;
    module.add_function(wrap_pyfunction!(_resume_autocast, module)?)?;
    module.add_function(wrap_pyfunction!(_begin_autocast, module)?)
}
