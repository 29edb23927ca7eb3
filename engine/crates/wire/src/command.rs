//! The first byte of a command packet.

macro_rules! commands {
    ($($name:ident = $byte:literal),* $(,)?) => {
        /// A client's command, by the first byte of its packet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Command { $($name = $byte),* }

        impl Command {
            pub const ALL: &'static [Command] = &[$(Command::$name),*];

            /// Returns the command with this byte. None if the byte is not listed here: what it means is left to the server.
            pub fn from_byte(byte: u8) -> Option<Command> {
                match byte { $($byte => Some(Command::$name),)* _ => None }
            }
        }
    };
}

commands! {
    Sleep = 0,
    Quit = 1,
    InitDb = 2,
    Query = 3,
    FieldList = 4,
    CreateDb = 5,
    DropDb = 6,
    Refresh = 7,
    Shutdown = 8,
    Statistics = 9,
    ProcessInfo = 10,
    Connect = 11,
    ProcessKill = 12,
    Debug = 13,
    Ping = 14,
    Time = 15,
    DelayedInsert = 16,
    ChangeUser = 17,
    BinlogDump = 18,
    TableDump = 19,
    ConnectOut = 20,
    RegisterSlave = 21,
    StmtPrepare = 22,
    StmtExecute = 23,
    StmtSendLongData = 24,
    StmtClose = 25,
    StmtReset = 26,
    SetOption = 27,
    StmtFetch = 28,
    Daemon = 29,
    BinlogDumpGtid = 30,
    ResetConnection = 31,
    StmtBulkExecute = 250,
    Multi = 254,
}
