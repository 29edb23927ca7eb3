-- Sends transactions of one read each, with autocommit off, as many connectors and frameworks do by default.

require("oltp_common")

sysbench.cmdline.options["hot-rows"] = {"Rows of each table where ranges begin", 100}

local function read_and_commit(table_number, first)
   local last = first + sysbench.opt.range_size - 1
   con:query(string.format("SELECT c FROM sbtest%d WHERE id BETWEEN %d AND %d", table_number, first, last))
   con:query("COMMIT")
end

function thread_init()
   con = sysbench.sql.driver():connect()
   con:query("SET autocommit = 0")
end

function thread_done()
   con:disconnect()
end

function event()
   local table_number = sysbench.rand.uniform(1, sysbench.opt.tables)
   read_and_commit(table_number, sysbench.rand.uniform(1, sysbench.opt.hot_rows))
end

function warm()
   thread_init()
   for first = 1 + sysbench.tid, sysbench.opt.hot_rows, sysbench.opt.threads do
      for table_number = 1, sysbench.opt.tables do
         read_and_commit(table_number, first)
      end
   end
   thread_done()
end

sysbench.cmdline.commands.warm = {warm, sysbench.cmdline.PARALLEL_COMMAND}
