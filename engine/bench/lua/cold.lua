-- The load of the cold start: point selects that were never sent before, except for those that the command `fill`
-- sends. Each of these comes once more in the command `run`.
-- All have one shape. Only the LIMIT, which no result depends on, makes a statement new.

require("oltp_common")

sysbench.cmdline.options["first-text"] = {"Number of the first text of this step", 1}
sysbench.cmdline.options["repeats"] = {"Statements that repeat", 500}

local asked = 0

local function ask(number)
   local table_number = 1 + number % sysbench.opt.tables
   local id = 1 + number % sysbench.opt.table_size
   con:query(string.format("SELECT c FROM sbtest%d WHERE id=%d LIMIT %d", table_number, id, sysbench.opt.first_text + number))
end

-- Connections are made before the step begins, so their cost is no part of it.
function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("SELECT COUNT(*) FROM sbtest1 WHERE id = 1")
   began = os.clock()
end

function thread_done()
   print(string.format("processor time: %.6f", os.clock() - began))
   con:disconnect()
end

-- The repeats are spread evenly over the step.
function event()
   local all, repeats = sysbench.opt.events, sysbench.opt.repeats
   local before = math.floor(asked * repeats / all)
   asked = asked + 1
   local now = math.floor(asked * repeats / all)
   ask(now > before and now or repeats + asked)
end

function fill()
   thread_init()
   for number = 1, sysbench.opt.repeats do
      ask(number)
   end
   thread_done()
end

sysbench.cmdline.commands.fill = {fill}
