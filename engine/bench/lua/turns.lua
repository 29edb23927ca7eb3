-- Runs another script, whose threads work only when it is their turn: see driver/turns.py.
-- A thread reads the time at which its turn ends, works until then, reports that it has stopped, and reads again.

local FOLDER = debug.getinfo(1, "S").source:match("^@(.*)/")
package.path = FOLDER .. "/?.lua;" .. package.path
require(os.getenv("TURNS_SCRIPT"))

local ffi = require("ffi")
ffi.cdef [[
typedef struct { long seconds; long nanoseconds; } turns_time;
int clock_gettime(int clock, turns_time *time);
long read(int descriptor, void *buffer, unsigned long length);
long write(int descriptor, const void *buffer, unsigned long length);
]]

local MONOTONIC = 1
local BEGINS = tonumber(os.getenv("TURNS_BEGIN"))
local ENDED = tonumber(os.getenv("TURNS_ENDED"))

local function seconds_now()
   local time = ffi.new("turns_time")
   ffi.C.clock_gettime(MONOTONIC, time)
   return tonumber(time.seconds) + tonumber(time.nanoseconds) / 1e9
end

-- A deadlock does not end the thread: the event is tried again.
local function try_event(thread_id)
   repeat
      local is_done, problem = pcall(event, thread_id)
      if not is_done and not (type(problem) == "table" and problem.errcode == sysbench.error.RESTART_EVENT) then
         error(problem, 0)
      end
   until is_done
end

local function work(thread_id, until_seconds)
   while seconds_now() < until_seconds and ffi.C.sb_more_events(thread_id) do
      ffi.C.sb_event_start(thread_id)
      try_event(thread_id)
      ffi.C.sb_event_stop(thread_id)
   end
end

function thread_run(thread_id)
   local turn_end = ffi.new("double[1]")
   while ffi.C.read(BEGINS, turn_end, 8) == 8 do
      work(thread_id, turn_end[0])
      ffi.C.write(ENDED, "x", 1)
   end
end
