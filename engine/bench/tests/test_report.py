import pytest

from driver.report import UnreadableReport, read_report

OUTPUT = """\
Threads started!

Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       0.100 |****************************************  90
       0.200 |***                                       8
       1.500 |*                                         2

SQL statistics:
    queries performed:
        read:                            1400
        write:                           400
        other:                           200
        total:                           2000
    transactions:                        100    (50.00 per sec.)
    queries:                             2000   (1000.50 per sec.)
    ignored errors:                      3      (1.50 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          1.9990s
    total number of events:              100
"""


def test_a_report_is_read():
    report = read_report(OUTPUT)
    assert (report.reads, report.queries, report.ignored_errors) == (1400, 2000, 3)
    assert (report.queries_per_second, report.seconds) == (1000.5, 1.999)
    assert report.histogram == ((0.1, 90), (0.2, 8), (1.5, 2))


@pytest.mark.parametrize(("percent", "value"), [(50, 0.1), (90, 0.1), (95, 0.2), (99.9, 1.5)])
def test_percentiles_come_from_the_histogram(percent, value):
    assert read_report(OUTPUT).percentile_ms(percent) == value


def test_a_report_without_a_line_is_an_error_that_shows_it():
    cut = OUTPUT.replace("total time", "another time")
    with pytest.raises(UnreadableReport, match="another time"):
        read_report(cut)
