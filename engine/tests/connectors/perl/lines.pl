# Runs statements from standard input, as python/lines.py does, by DBD::mysql. `prepared` as an argument runs reads as prepared statements
# of the server, each prepared once.

use strict;
use warnings;
use DBI;

my $is_prepared = grep { $_ eq 'prepared' } @ARGV;
my $place = $ENV{FQC_SOCKET} ? "mysql_socket=$ENV{FQC_SOCKET}" : "host=127.0.0.1;port=$ENV{FQC_PORT}";
my %options = (RaiseError => 1, PrintError => 0, AutoCommit => 1, mysql_server_prepare => $is_prepared ? 1 : 0);
my $line = DBI->connect("DBI:mysql:$place", 'root', '', \%options);
my %statements;

sub answer {
    my ($statement) = @_;
    my $first = eval {
        my $prepared = $statements{$statement} //= $line->prepare($statement);
        $prepared->execute();
        my $rows = $prepared->{NUM_OF_FIELDS} ? $prepared->fetchall_arrayref() : [];
        @$rows ? $rows->[0][0] : '-';
    };
    return defined $first ? $first : 'error ' . ($DBI::err // $@);
}

$| = 1;
while (my $text = <STDIN>) {
    chomp $text;
    if ($text =~ /^repeat (\d+) (.*)$/) {
        my ($count, $statement) = ($1, $2);
        my %seen = map { answer($statement) => 1 } 1 .. $count;
        print join(',', sort keys %seen), "\n";
    } else {
        print answer($text), "\n";
    }
}
