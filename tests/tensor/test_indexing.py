"""Reading and writing `x[...]`, against NumPy where it means the same."""

import numpy as np
import pyburn
import pytest

SHAPE = (4, 3, 5)


def fresh():
    array = np.arange(60, dtype=np.float32).reshape(SHAPE)
    return array, pyburn.from_numpy(array.copy())


def as_ours(index):
    """An index of NumPy's with its arrays as tensors."""
    if isinstance(index, tuple):
        return tuple(map(as_ours, index))
    return pyburn.from_numpy(index) if isinstance(index, np.ndarray) else index


MASK2 = np.arange(12).reshape(4, 3) % 5 < 2
MASK3 = np.arange(60).reshape(SHAPE) % 7 < 3
ROWS, COLUMNS = np.array([0, 3, -1]), np.array([[2], [0]])

BASIC = [
    0,
    -1,
    (1, 2),
    (1, -1, 3),
    slice(None),
    slice(1, 3),
    slice(None, None, 2),
    slice(-3, -1),
    slice(10, 20),
    slice(3, 1),
    slice(-100, 100, 3),
    (slice(None), 1),
    (Ellipsis, 0),
    (0, Ellipsis, 0),
    Ellipsis,
    None,
    (None, 0, None),
    (slice(None), None, slice(1)),
    (Ellipsis, None),
    (0, Ellipsis, None, slice(None, None, 2)),
    (),
    (1, 2, 4, Ellipsis),
]
ADVANCED = [
    ROWS,
    [0, 3, -1],
    [[0, 1], [2, 3]],
    (ROWS, slice(None), 1),
    (slice(None), ROWS[:2] % 3),
    (slice(None), ROWS % 3, ROWS),
    (ROWS, slice(None), ROWS),
    (ROWS, ROWS % 3, ROWS),
    (ROWS, COLUMNS),
    (COLUMNS, slice(None), ROWS),
    (Ellipsis, COLUMNS),
    (ROWS, None, slice(1)),
    (None, ROWS),
    (slice(1, 3), slice(None), ROWS),
    ([0, 1], [2, 0]),
    MASK2,
    MASK3,
    (MASK2, slice(1, 3)),
    (Ellipsis, MASK3[0, 0]),
    (slice(None), MASK3[0]),
    (MASK2[:, 0], slice(None), [0, 1]) if MASK2[:, 0].sum() == 2 else MASK2[:, 0],
    np.zeros(4, dtype=bool),
    np.array([], dtype=np.int64),
    np.array(2),
    True,
    False,
    (True, 1),
]


def name(index):
    return "".join(str(index).split())[:60]


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=name)
def test_reading_is_numpys(index):
    array, tensor = fresh()
    got = tensor[as_ours(index)]
    np.testing.assert_array_equal(got.numpy(), array[index])
    assert got.shape == array[index].shape


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=name)
def test_writing_a_number_is_numpys(index):
    array, tensor = fresh()
    array[index] = -1
    tensor[as_ours(index)] = -1
    np.testing.assert_array_equal(tensor.numpy(), array)


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=name)
def test_writing_a_tensor_is_numpys(index):
    array, tensor = fresh()
    values = -np.arange(array[index].size, dtype=np.float32).reshape(array[index].shape)
    array[index] = values
    tensor[as_ours(index)] = pyburn.from_numpy(values)
    np.testing.assert_array_equal(tensor.numpy(), array)


@pytest.mark.parametrize("index", BASIC, ids=name)
def test_basic_indexing_looks_at_the_same_memory(index):
    array, tensor = fresh()
    part = tensor[index]
    part.fill_(-5)
    array[index] = -5
    np.testing.assert_array_equal(tensor.numpy(), array)
    assert part._shares_storage(tensor)


@pytest.mark.parametrize("index", [ROWS, MASK3, (ROWS, COLUMNS)], ids=name)
def test_advanced_indexing_copies(index):
    array, tensor = fresh()
    tensor[as_ours(index)].fill_(-5)
    np.testing.assert_array_equal(tensor.numpy(), array)


def test_updating_in_place_through_an_index():
    array, tensor = fresh()
    for index in (0, (slice(None), 1), MASK3, (ROWS[:2], ROWS[:2] % 3)):
        array[index] += 10
        tensor[as_ours(index)] += 10
    np.testing.assert_array_equal(tensor.numpy(), array)


def test_of_repeated_places_one_value_stays_and_accumulation_adds():
    x = pyburn.zeros(3)
    x[pyburn.tensor([1, 1, 2])] = pyburn.tensor([5.0, 6.0, 7.0])
    assert x.tolist() == [0, 6, 7]
    x.index_put_((pyburn.tensor([1, 1]),), pyburn.tensor([1.0, 1.0]), accumulate=True)
    assert x.tolist() == [0, 8, 7]


def test_values_broadcast_and_convert():
    x = pyburn.zeros(2, 3, dtype=pyburn.int64)
    x[:] = pyburn.tensor([1.9, 2.0, -3.7])
    assert x.tolist() == [[1, 2, -3]] * 2
    x[:, 0] = pyburn.ones(1, 1, 2)
    assert x.tolist() == [[1, 2, -3]] * 2
    x[0] = [7, 8, 9]
    x[1] = np.array([4, 5, 6])
    assert x.tolist() == [[7, 8, 9], [4, 5, 6]]


def test_a_view_of_itself_is_read_before_it_is_written():
    x = pyburn.arange(6)
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3, 4]
    x = pyburn.arange(4)
    x[pyburn.tensor([3, 2, 1, 0])] = x
    assert x.tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize(
    ("index", "fault"),
    [
        (4, IndexError),
        (-5, IndexError),
        ((0, 3), IndexError),
        ((0, 0, 0, 0), IndexError),
        ((Ellipsis, Ellipsis), IndexError),
        (slice(None, None, -1), ValueError),
        (slice(None, None, 0), ValueError),
        (1.5, (TypeError, IndexError)),
        ("a", (TypeError, IndexError)),
        ([0, 4], IndexError),
        ([0, -5], IndexError),
        (pyburn.tensor([0.5]), IndexError),
        (pyburn.zeros(3, dtype=pyburn.bool), IndexError),
        (pyburn.zeros(4, 4, dtype=pyburn.bool), IndexError),
        ((pyburn.tensor([0, 1]), pyburn.tensor([0, 1, 2])), IndexError),
    ],
    ids=name,
)
def test_refused_indices_raise_and_write_nothing(index, fault):
    array, tensor = fresh()
    with pytest.raises(fault):
        tensor[index]
    with pytest.raises(fault):
        tensor[index] = 1
    np.testing.assert_array_equal(tensor.numpy(), array)


def test_errors_name_the_index_and_the_shape():
    x = pyburn.zeros(4, 3)
    with pytest.raises(IndexError, match=r"index 7 is out of bounds for dimension 0 with size 4"):
        x[7]
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-1]
    with pytest.raises(RuntimeError, match=r"shape mismatch|expand|broadcast"):
        x[0] = pyburn.zeros(2)
    with pytest.raises(IndexError, match="0-dim"):
        pyburn.tensor(1.0)[0]


def test_zero_dimensional_tensors():
    x = pyburn.tensor(3.0)
    assert x[...].shape == ()
    assert x[None].shape == (1,)
    assert x[True].tolist() == [3.0]
    assert x[False].shape == (0,)
    x[...] = 4.0
    assert x.item() == 4.0
    x[()] = 5.0
    assert x.item() == 5.0
    x[x > 1] = 6.0
    assert x.item() == 6.0


def test_zero_dimensional_and_numpy_integers_select():
    x = pyburn.arange(5)
    assert x[pyburn.tensor(2)].shape == ()
    assert x[np.int64(3)].item() == 3
    x[pyburn.tensor(2)] = 9
    assert x.tolist() == [0, 1, 9, 3, 4]


def test_iterating_gives_rows_and_ends():
    x = pyburn.arange(6).reshape(3, 2)
    assert [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    first, *rest = x
    first.zero_()
    assert x[0].tolist() == [0, 0]
    assert len(rest) == 2
    with pytest.raises(TypeError, match="0-d"):
        iter(pyburn.tensor(1))
    assert (3 in pyburn.arange(4)) is True
    assert (7 in pyburn.arange(4)) is False


def test_the_gradient_of_reading_goes_where_it_was_read():
    x = pyburn.zeros(4, requires_grad=True)
    (x[pyburn.tensor([0, 0, 2])] * pyburn.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [3, 0, 4, 0]
    y = pyburn.zeros(2, 3, requires_grad=True)
    (y[:, 1:][y[:, 1:] == 0] * 2).sum().backward()
    assert y.grad.tolist() == [[0, 2, 2]] * 2


def test_the_gradient_of_writing():
    x = pyburn.ones(4, requires_grad=True)
    value = pyburn.tensor(3.0, requires_grad=True)
    y = x * 2
    y[pyburn.tensor([0, 3])] = value
    y[1] = value * 2
    (y * pyburn.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    assert x.grad.tolist() == [0, 0, 200, 0]
    assert value.grad.item() == 1 + 1000 + 20
