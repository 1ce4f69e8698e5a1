"""What the doctor stands on in TensorFlow: each test fails with the name of what a release has moved."""

import subprocess
import sys

import pytest
import tensorflow as tf

from gradlab import diagnose, doctor
from gradlab.instruments.doctor import ground


def test_this_tensorflow_has_every_private_name_that_the_doctor_needs():
    assert ground.missing() == []


@pytest.mark.parametrize("name", [f"{home.__name__} {name}" for home, name in ground._NEEDED])
def test_with_a_name_missing_the_doctor_says_which_and_what_it_works_with(monkeypatch, name):
    module, dotted = name.split(" ")
    hidden = dotted.rpartition(".")[2]
    has = ground._has
    monkeypatch.setattr(ground, "_has", lambda home, want: want != dotted and has(home, want))
    with pytest.raises(ground.UnsupportedTensorFlow) as refused:
        diagnose(lambda: tf.constant(1.0), [tf.Variable(1.0)])
    assert f"{module}." in str(refused.value)
    assert hidden in str(refused.value)
    assert tf.__version__ in str(refused.value)
    assert "pip install 'tensorflow==2.21.*'" in str(refused.value)
    with pytest.raises(ground.UnsupportedTensorFlow), doctor():
        pass


def test_a_name_that_is_really_gone_is_noticed(monkeypatch):
    monkeypatch.delattr(ground.op_callbacks, "add_op_callback")
    monkeypatch.delattr(ground.tf.GradientTape, "_push_tape")
    assert ground.missing() == [
        "tensorflow.python.framework.op_callbacks.add_op_callback",
        "tensorflow.python.eager.backprop.GradientTape._push_tape",
    ]


def test_with_a_whole_module_missing_the_doctor_is_imported_and_refuses():
    program = (
        "import sys, tensorflow as tf\n"
        "sys.modules['tensorflow.python.framework.op_callbacks'] = None\n"
        "sys.modules['tensorflow.python.eager.record'] = None\n"
        "from gradlab import doctor\n"
        "try:\n    doctor().__enter__()\nexcept RuntimeError as error:\n    print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "can't work with TensorFlow" in ran.stdout
    assert "op_callbacks.add_op_callback" in ran.stdout
    assert "record.record_operation" in ran.stdout


def test_callbacks_tell_the_type_the_tensors_and_the_attributes_of_an_eager_operation():
    seen = []

    def note(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        seen.append((op_type, [t._id for t in inputs], [t._id for t in outputs], attrs, graph))

    a, b = tf.constant([[1.0]]), tf.constant([[2.0]])
    ground.add_callback(note)
    try:
        c = tf.linalg.matmul(a, b, transpose_b=True)
    finally:
        ground.remove_callback(note)
    tf.linalg.matmul(a, b)
    ((_, inputs, outputs, attrs, graph),) = [row for row in seen if row[0] in ("MatMul", b"MatMul")]
    assert (inputs, outputs, graph) == ([ground.tensor_id(a), ground.tensor_id(b)], [ground.tensor_id(c)], None)
    named = dict(zip(attrs[::2], attrs[1::2], strict=True))
    assert (named["transpose_a"], named["transpose_b"]) == (False, True)


def test_later_tensors_have_larger_numbers_and_a_variable_is_its_handle():
    first = tf.constant(1.0)
    between = ground.newest_tensor()
    second = tf.constant(2.0)
    assert ground.tensor_id(first) < between < ground.tensor_id(second)
    assert ground.tensor_id(tf.Variable(1.0).handle) is not None
    assert ground.tensor_id(3.0) is None


def test_asking_for_the_newest_number_leaves_tensorflow_unstarted():
    program = (
        "import tensorflow as tf\n"
        "from gradlab.instruments.doctor import ground\n"
        "ground.newest_tensor()\n"
        "tf.config.threading.set_intra_op_parallelism_threads(1)\n"
        "print('unstarted')"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "unstarted\n"


def test_a_tape_tells_what_it_is_and_whether_it_listens():
    assert ground.is_persistent(tf.GradientTape(persistent=True))
    assert not ground.is_persistent(tf.GradientTape())
    assert ground.watches_variables(tf.GradientTape())
    assert not ground.watches_variables(tf.GradientTape(watch_accessed_variables=False))
    x, y = tf.constant(1.0), tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        assert ground.would_be_recorded(x)
        assert not ground.would_be_recorded(y)
        assert not ground.recording_is_stopped()
        with ground.unrecorded():
            assert ground.recording_is_stopped()
        with tape.stop_recording():
            assert not ground.would_be_recorded(x)


def test_eager_and_symbolic_tensors_are_told_apart():
    kinds = []

    @tf.function
    def symbolic(x):
        kinds.append(ground.is_eager(x))
        return x

    symbolic(tf.constant(1.0))
    assert [*kinds, ground.is_eager(tf.constant(1.0)), ground.is_eager(1.0)] == [False, True, False]


def test_the_registry_knows_which_operations_have_a_rule():
    # ZerosLike is declared as not differentiable; of Bucketize TensorFlow knows nothing, and would raise
    assert ground.has_rule("MatMul") is True
    assert ground.has_rule("ZerosLike") is False
    assert ground.has_rule("Bucketize") is None


def test_the_registry_knows_which_operations_keep_state():
    assert ground.is_stateful("RandomStandardNormal")
    assert not ground.is_stateful("MatMul")
    assert not ground.is_stateful("NoSuchOperation")
    assert ground.cant_be_repeated("RandomStandardNormal")
    assert ground.cant_be_repeated("NoSuchOperation")
    assert not ground.cant_be_repeated("MatMul")


def test_a_backward_rule_can_be_asked_by_itself():
    x = tf.constant([3.0, 4.0])
    (got,) = ground.backward_of("Square", ("T", tf.float32), [x], [tf.square(x)], [tf.constant([1.0, 10.0])])
    assert got.numpy().tolist() == [6.0, 80.0]
    with pytest.raises(LookupError):
        ground.backward_of("NoSuchOperation", (), [x], [x], [x])


def test_a_registered_function_is_asked_for_each_backward_rule_until_the_original_is_back():
    asked = []

    def asking(op, *more):
        asked.append(op)
        return ground.gradient_function(op, *more)

    x = tf.constant(3.0)

    def slope():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x)
        return tape.gradient(y, x)

    ground.register_gradient_function(asking)
    try:
        assert float(slope()) == float(tf.cos(x))
    finally:
        ground.register_gradient_function(ground.gradient_function)
    slope()
    assert [op.decode() if isinstance(op, bytes) else op for op in asked] == ["Sin"]


def test_fetching_a_handle_is_heard_and_the_class_is_afterwards_as_before():
    home = ground.resource_variable_ops.BaseResourceVariable
    before = dict(vars(home))
    variable, heard = tf.Variable(2.0), []
    undo = ground.listen_to_handles(heard.append)
    try:
        assert float(variable * 2.0) == 4.0
        variable.assign(3.0)
        made = tf.Variable(5.0)
        assert float(made) == 5.0
    finally:
        undo()
    assert any(one is variable for one in heard)
    count = len(heard)
    assert float(variable + made) == 8.0
    assert len(heard) == count
    assert dict(vars(home)) == before


def test_a_handle_tells_the_dtype_of_its_variable():
    assert ground.variable_dtype(tf.Variable([1, 2], dtype=tf.int64).handle) == tf.int64
    assert ground.variable_dtype(tf.constant(1.0)) is None


def test_the_draw_of_operation_seeds_can_be_put_back():
    tf.random.set_seed(7)
    tf.random.normal([2])
    state = ground.eager_generator_state()
    assert state is not None
    tf.random.normal([2])
    assert ground.eager_generator_state() != state
    ground.restore_eager_generator(state)
    assert ground.eager_generator_state() == state
