from collections import Counter

from driver.counters import Instructions, read_profile
from driver.instructions import Row, render

PROFILE = """\
# callgrind format
positions: line
events: Ir

ob=(1) /usr/sbin/mariadbd
fl=(1) sql_parse.cc
fn=(1) do_command(THD*, bool)
10 100
+2 20
cob=(2) /plugins/fqc.so
cfn=(2) recv
calls=3 0
10 9000

ob=(2)
fn=(2)
* 7
-3 70

totals: 197
"""


def test_what_a_called_function_takes_counts_where_it_is_and_not_where_it_is_called():
    found = read_profile(PROFILE)
    assert found.by_object == {"mariadbd": 120, "fqc.so": 77}
    assert found.calls == {("mariadbd", "recv"): 3}


def test_a_row_without_counts_says_nothing_in_their_place():
    assert "| read | OFF | - | - | - |" in render([Row("OFF", "read")])


def test_the_plugins_own_instructions_and_the_change_against_off_are_for_each_statement():
    off = Row("OFF", "read", statements=10, instructions=Instructions(Counter({"mariadbd": 1000})))
    on = Row("awake", "read", statements=20, instructions=Instructions(Counter({"mariadbd": 2000, "fqc.so": 200})))
    assert "| read | awake | 110 | +10.00 % | 10 |" in render([off, on])
