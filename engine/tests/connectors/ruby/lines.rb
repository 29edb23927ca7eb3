# Runs statements from standard input, as python/lines.py does, by mysql2. `prepared` as an argument runs reads as prepared statements, each
# prepared once.

require "mysql2"

is_prepared = ARGV.include?("prepared")
socket = ENV["FQC_SOCKET"]
place = socket ? { socket: socket } : { host: "127.0.0.1", port: ENV.fetch("FQC_PORT").to_i }
line = Mysql2::Client.new(username: "root", as: :array, **place)
statements = {}

answer = lambda do |statement|
  if is_prepared && statement.start_with?("SELECT")
    result = (statements[statement] ||= line.prepare(statement)).execute(as: :array)
  else
    result = line.query(statement, as: :array)
  end
  rows = result ? result.to_a : []
  rows.empty? ? "-" : rows[0][0].to_s
rescue Mysql2::Error => e
  "error #{e.error_number}"
end

$stdout.sync = true
$stdin.each_line do |text|
  words = text.strip.split(" ", 3)
  if words[0] == "repeat"
    puts Array.new(words[1].to_i) { answer.call(words[2]) }.uniq.sort.join(",")
  else
    puts answer.call(text.strip)
  end
end
