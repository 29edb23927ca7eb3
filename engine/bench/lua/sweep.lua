-- Sends each statement that a workload may repeat once, so that the caches hold as many results as they can.
-- The statements are sysbench's own, named as in its oltp_common; only their order differs.

require("oltp_common")

sysbench.cmdline.options["first-id"] = {"First key that is asked for", 1}
sysbench.cmdline.options["last-id"] = {"Last key that is asked for", 1}
sysbench.cmdline.options["statements"] = {"Which statements, separated by commas", "point_selects"}

local names = {}

function prepare_statements()
   for name in string.gmatch(sysbench.opt.statements, "[%a_]+") do
      table.insert(names, name)
      prepare_for_each_table(name)
   end
end

local function ask(table_number, name, id)
   local parameters = param[table_number][name]
   parameters[1]:set(id)
   if parameters[2] then
      parameters[2]:set(id + sysbench.opt.range_size - 1)
   end
   stmt[table_number][name]:execute()
end

function warm()
   thread_init()
   for id = sysbench.opt.first_id + sysbench.tid, sysbench.opt.last_id, sysbench.opt.threads do
      for table_number = 1, sysbench.opt.tables do
         for _, name in ipairs(names) do
            ask(table_number, name, id)
         end
      end
   end
   thread_done()
end

sysbench.cmdline.commands.warm = {warm, sysbench.cmdline.PARALLEL_COMMAND}
