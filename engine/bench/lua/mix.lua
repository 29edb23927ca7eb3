-- Sends point selects: a given share repeats, and the rest were never sent before.
-- Both kinds have one shape. Only the LIMIT, which no result depends on, makes a statement new.

require("oltp_common")

sysbench.cmdline.options["hit-percent"] = {"Share of statements that repeat", 50}
sysbench.cmdline.options["hot-rows"] = {"Rows of each table that the repeating statements ask for", 100}

local FIRST = 1
local serial

local function ask(table_number, id, limit)
   con:query(string.format("SELECT c FROM sbtest%d WHERE id=%d LIMIT %d", table_number, id, limit))
end

function thread_init()
   con = sysbench.sql.driver():connect()
   -- Runs on one server never share a number: each thread has ten million numbers, all below 2^53.
   serial = (os.time() % 100000) * 1e10 + sysbench.tid * 1e7 + FIRST
end

function thread_done()
   con:disconnect()
end

function event()
   local table_number = sysbench.rand.uniform(1, sysbench.opt.tables)
   if sysbench.rand.uniform(1, 100) <= sysbench.opt.hit_percent then
      ask(table_number, sysbench.rand.uniform(1, sysbench.opt.hot_rows), FIRST)
   else
      serial = serial + 1
      ask(table_number, sysbench.rand.uniform(1, sysbench.opt.table_size), serial)
   end
end

function warm()
   thread_init()
   for id = 1 + sysbench.tid, sysbench.opt.hot_rows, sysbench.opt.threads do
      for table_number = 1, sysbench.opt.tables do
         ask(table_number, id, FIRST)
      end
   end
   thread_done()
end

sysbench.cmdline.commands.warm = {warm, sysbench.cmdline.PARALLEL_COMMAND}
