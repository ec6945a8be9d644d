"""PyBurn measured against PyTorch's own database of operators.

PyTorch ships, inside `torch.testing`, a list named `op_db`: some 700 entries that each know how
to make valid inputs for one operator, inputs that must be refused, and how closely two results
have to agree. The modules here run every entry of it that belongs to PyBurn's surface:

    scope.py        which entries belong to the surface, and why each other one does not
    exceptions.py   entries that are known to fail, each with its reason
    library.py      the package under test: names looked up, tensors read back
    carry.py        arguments taken from torch to that package, strides and sharing kept
    rebind.py       torch's own Python wrappers of an operator, run on that package
    variants.py     the ways to call one operator: function, method, in-place, operator, alias
    tolerance.py    how closely the results of an entry must agree
    compare.py      two results held against each other
    gauge.py        results that are only defined up to a sign, a phase or an order
    checks.py       one sample: forward, backward, or an error that must be raised
    cases.py        the samples of an entry
    worker.py       the process that runs the checks and may die doing so
    watch.py        the process that starts it, times it and starts it again
    tally.py        what is counted, and the table
    dtype_sweep.py  every combination of dtypes: who promotes and refuses what; a command line
    opdb.py         the command line: `python -m tests.parity.opdb`
    test_opdb.py    the same for pytest
"""
