//! Devices, defaults, threads, and the constructors that take no tensor.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use wrap_burn::{defaults, device};

use crate::boundary::{run, to_py};
use crate::dtype::{DTypeArg, DeviceArg, PyDType, PyDevice};

/// Every backend as a dictionary: name, devices, and the reason why there are none.
#[pyfunction]
fn _backends(py: Python<'_>) -> PyResult<Vec<Py<PyDict>>> {
    let found = run(py, || Ok(device::backends()))?;
    found
        .into_iter()
        .map(|info| {
            let entry = PyDict::new(py);
            entry.set_item("name", info.name)?;
            entry.set_item("devices", info.devices)?;
            entry.set_item("reason", info.reason)?;
            Ok(entry.unbind())
        })
        .collect()
}

/// Raises `DeviceError` unless the device can be used.
#[pyfunction]
fn _require(py: Python<'_>, device: DeviceArg) -> PyResult<()> {
    run(py, || wrap_burn::device::require(device.0))
}

/// Whether a device computes with a dtype.
#[pyfunction]
fn _supports(py: Python<'_>, device: DeviceArg, dtype: DTypeArg) -> PyResult<bool> {
    run(py, || Ok(wrap_burn::device::supports(device.0, dtype.0)))
}

/// The dtype that stands in for one a device lacks.
#[pyfunction]
fn _narrow(py: Python<'_>, device: DeviceArg, dtype: DTypeArg) -> PyResult<PyDType> {
    run(py, || Ok(PyDType(device.0.narrow(dtype.0))))
}

/// Waits until a device has done everything it was asked to.
#[pyfunction]
fn _synchronize(py: Python<'_>, device: DeviceArg) -> PyResult<()> {
    run(py, || wrap_burn::device::synchronize(device.0))
}

/// Bytes in use and reserved on a device, and the number of allocations.
#[pyfunction]
fn _memory_stats<'py>(py: Python<'py>, device: DeviceArg) -> PyResult<Bound<'py, PyDict>> {
    let stats = run(py, || wrap_burn::device::memory_stats(device.0))?;
    let entry = PyDict::new(py);
    entry.set_item("bytes_in_use", stats.in_use)?;
    entry.set_item("bytes_reserved", stats.reserved)?;
    entry.set_item("allocations", stats.allocations)?;
    Ok(entry)
}

/// How many threads the CPU kernels use.
#[pyfunction]
fn get_num_threads() -> usize {
    wrap_burn::device::num_threads()
}

/// Sets how many threads the CPU kernels use.
#[pyfunction]
fn set_num_threads(threads: usize) -> PyResult<()> {
    if threads == 0 {
        return Err(pyo3::exceptions::PyRuntimeError::new_err(
            "set_num_threads: expects a positive integer",
        ));
    }
    wrap_burn::device::set_num_threads(threads);
    Ok(())
}

/// The dtype that floats get where none is named.
#[pyfunction]
fn get_default_dtype() -> PyDType {
    PyDType(defaults::float())
}

/// Sets the dtype that floats get where none is named.
#[pyfunction]
fn set_default_dtype(dtype: DTypeArg) -> PyResult<()> {
    defaults::set_float(dtype.0).map_err(to_py)
}

/// The device that tensors are made on where none is named.
#[pyfunction]
fn get_default_device() -> PyDevice {
    PyDevice(defaults::device())
}

/// Sets the device that tensors are made on where none is named; the CPU for ``None``.
#[pyfunction]
#[pyo3(signature = (device = None))]
fn set_default_device(py: Python<'_>, device: Option<DeviceArg>) -> PyResult<()> {
    let device = device.map_or(wrap_burn::Device::Cpu, |arg| arg.0);
    run(py, || wrap_burn::device::require(device))?;
    defaults::set_device(device);
    Ok(())
}

/// Adds the module's functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    macro_rules! add {
        ($($name:ident),* $(,)?) => { $(module.add_function(wrap_pyfunction!($name, module)?)?;)* };
    }
    add!(
        _backends,
        _require,
        _supports,
        _narrow,
        _synchronize,
        _memory_stats,
        get_num_threads,
        set_num_threads,
        get_default_dtype,
        set_default_dtype,
        get_default_device,
        set_default_device
    );
    Ok(())
}
