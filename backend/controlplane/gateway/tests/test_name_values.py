import pytest

from controlplane.gateway.name_values import AnswerReader, NotNameValues


def packet(body, number=1):
    return len(body).to_bytes(3, "little") + bytes([number]) + body


def cell(text):
    data = text.encode()
    return (bytes([len(data)]) if len(data) < 251 else b"\xfc" + len(data).to_bytes(2, "little")) + data


END = packet(b"\xfe\x00\x00\x02\x00")


def answer(*rows):
    columns = packet(b"\x02") + packet(b"\x03def-name") + packet(b"\x03def-value") + END
    return columns + b"".join(packet(row) for row in rows) + END


ROWS = (cell("Uptime") + cell("12"), cell("long") + cell("ü" * 300), cell("empty") + cell(""), cell("none") + b"\xfb")
VALUES = {"Uptime": "12", "long": "ü" * 300, "empty": ""}


def test_values_by_name_without_those_that_are_null():
    assert AnswerReader().read(answer(*ROWS)) == VALUES


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_pieces_of_any_size_make_the_same(size):
    reader, data = AnswerReader(), answer(*ROWS)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert [reader.read(piece) for piece in pieces] == [None] * (len(pieces) - 1) + [VALUES]


def test_one_answer_follows_the_other():
    reader = AnswerReader()
    assert [reader.read(answer(ROWS[0])), reader.read(answer())] == [{"Uptime": "12"}, {}]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(packet(b"\xff\x28\x04#42000no such thing"), id="an error"),
        pytest.param(answer(ROWS[0])[: -len(END)] + packet(b"\xff\x28\x04#70100killed"), id="an error after rows"),
        pytest.param(packet(b"\x00\x00\x00\x02\x00\x00\x00"), id="no rows"),
        pytest.param(packet(b"\x03"), id="another number of columns"),
        pytest.param(b"", id="the end"),
    ],
)
def test_what_is_no_such_answer_is_refused(data):
    with pytest.raises(NotNameValues):
        AnswerReader().read(data)
