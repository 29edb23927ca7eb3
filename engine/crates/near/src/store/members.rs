//! The servers of a store, and which one has a key. The configured servers form a hash ring, unless they belong to a cluster: then the
//! cluster's slots decide.

use super::StoreKey;
use super::reply::{ExpectedReply, Reply, SlotRange, key};
use super::ring::Ring;
use super::store_server::{Common, StoreServer};
use super::valkey;
use crate::server::Server;
use locks::RwLock;
use near_core::clock;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::time::sleep;

/// The number of slots of a Valkey cluster.
const SLOTS: u16 = 16_384;
/// The least time between two readings of the cluster's slots, however many answers say that they have moved.
const PAUSE: Duration = Duration::from_millis(250);

/// The servers of a store. Finds the one that has a key: by a hash ring of the configured servers, or by the slots of a cluster.
pub struct Members {
    common: Arc<Common>,
    /// The servers that the configuration names.
    named: Vec<Arc<StoreServer>>,
    /// The hash ring of the servers in `named`, by their index there.
    ring: Ring,
    /// The cluster's slots; none if the servers form no cluster, or it has not answered yet.
    cluster: RwLock<Option<Cluster>>,
}

/// A Valkey cluster: its primaries, and the ranges of slots that each has. Every key belongs to one slot.
#[derive(Clone, Default)]
struct Cluster {
    /// The servers that have slots.
    primaries: Vec<Arc<StoreServer>>,
    /// The last slot of a range, its first slot, and the index of the primary that has it. Sorted by the last slot.
    ranges: Vec<(u16, u16, usize)>,
}

impl Cluster {
    /// Returns the primary that has this slot. None if no server has it.
    fn server_for(&self, slot: u16) -> Option<&Arc<StoreServer>> {
        let at = self.ranges.partition_point(|(last, ..)| *last < slot);
        let (_, _, owner) = self.ranges.get(at).filter(|(_, first, _)| *first <= slot)?;
        Some(&self.primaries[*owner])
    }
}

impl Members {
    /// Makes the members, and starts the task that reads a cluster's slots whenever they may have changed. Connects to no server yet. Must
    /// be called in a tokio runtime.
    pub fn start(common: Common, servers: Vec<Server>) -> Arc<Members> {
        let common = Arc::new(common);
        let ring = Ring::new(servers.iter().map(Server::to_string));
        let named = servers.into_iter().map(|server| StoreServer::new(&common, server)).collect();
        let members = Arc::new(Members { common, named, ring, cluster: RwLock::default() });
        tokio::spawn(follow(members.clone()));
        members
    }

    /// Returns the options and counters that all servers of the store share.
    pub fn common(&self) -> &Common {
        &self.common
    }

    /// Returns the cluster as last read. None if the servers form no cluster, or none has answered yet.
    fn cluster(&self) -> Option<Cluster> {
        self.cluster.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns all servers in use: the primaries of the cluster, or the configured servers.
    pub fn servers(&self) -> Vec<Arc<StoreServer>> {
        let cluster = self.cluster();
        let members = cluster.as_ref().map_or(&self.named, |cluster| &cluster.primaries);
        members.clone()
    }

    /// Returns the server that the caller is to ask for this key: in a cluster the primary of its slot, otherwise the first one on the ring
    /// that may be asked. None if no server may be asked; one that does not answer is returned once a second. If the key's own server comes
    /// back later, it may have older entries, which does no harm, since every entry is checked before it is used.
    pub fn server_for(&self, id: &StoreKey) -> Option<Arc<StoreServer>> {
        let now = clock::now();
        let may_ask = |server: &&Arc<StoreServer>| server.may_ask(now);
        if let Some(cluster) = &*self.cluster.read().unwrap_or_else(PoisonError::into_inner) {
            return cluster.server_for(slot(&key(id))).filter(may_ask).cloned();
        }
        self.ring.candidates(id).map(|index| &self.named[index]).find(may_ask).cloned()
    }

    /// Reads the cluster's slots. Asks the known servers in turn, until one reports the slots; servers that do not answer at present come
    /// last. If none reports them, the slots stay as they are. `round`: the number of this reading.
    async fn read(&self, round: usize) {
        let mut known = self.cluster().unwrap_or_default().primaries;
        known.extend(self.named.iter().cloned());
        // Each round begins with another server, so that one that is cut off from the cluster is not the only one ever asked.
        let first = round % known.len().max(1);
        known.rotate_left(first);
        known.sort_by_cached_key(|member| !member.answers());
        for member in &known {
            let answer = member.ask(valkey::slots(), ExpectedReply::Slots).await;
            if let Some((Reply::Slots(ranges), _)) = answer
                && !ranges.is_empty()
            {
                let cluster = self.of_ranges(ranges, member.address(), &known);
                *self.cluster.write().unwrap_or_else(PoisonError::into_inner) = Some(cluster);
                return;
            }
        }
    }

    /// Makes the cluster of the ranges that a server has reported. `reporter`: that server, which is meant if a range has no host. `known`:
    /// servers whose connections are kept.
    fn of_ranges(&self, ranges: Vec<SlotRange>, reporter: &Server, known: &[Arc<StoreServer>]) -> Cluster {
        let (mut cluster, mut indexes) = (Cluster::default(), HashMap::new());
        for SlotRange { first, last, host, port } in ranges {
            let host = if host.is_empty() { reporter.host().to_owned() } else { host };
            let server = Server::Tcp { host, port };
            let owner = *indexes.entry(server.to_string()).or_insert_with(|| {
                let is_known = known.iter().find(|member| *member.address() == server).cloned();
                cluster.primaries.push(is_known.unwrap_or_else(|| StoreServer::new(&self.common, server)));
                cluster.primaries.len() - 1
            });
            cluster.ranges.push((last, first, owner));
        }
        cluster.ranges.sort_unstable();
        cluster
    }
}

/// Reads the cluster's slots whenever an answer shows that they may have changed. Never returns.
async fn follow(members: Arc<Members>) {
    for round in 0.. {
        members.common.has_changed.notified().await;
        members.read(round).await;
        sleep(PAUSE).await;
    }
}

/// Returns the slot of a key in the cluster. A part in braces would be hashed alone, but keys of near caches have none.
fn slot(key: &str) -> u16 {
    let crc = key.bytes().fold(0u16, |crc, byte| (crc << 8) ^ CRC[usize::from((crc >> 8) as u8 ^ byte)]);
    crc % SLOTS
}

/// The table of CRC16 with the polynomial of XMODEM, as Valkey's clusters use it.
const CRC: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = ((byte as u16) << 8, 0);
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Dialect, StoreOptions};

    /// Checks the slots of some keys. The expected ones are those that the command `CLUSTER KEYSLOT` returns.
    #[test]
    fn a_key_has_the_slot_that_servers_say() {
        assert_eq!(slot("123456789"), 0x31c3);
        assert_eq!(slot("fqc:"), 6163);
        assert_eq!(slot(&key(&[0xab; 32])), 9746);
    }

    #[tokio::test]
    async fn a_slot_is_of_one_primary_or_none() {
        let named = Server::Tcp { host: "seed".into(), port: 1 };
        let (servers, timeout) = (vec![named.clone()], Duration::from_millis(10));
        let [name, user, password] = [const { String::new() }; 3];
        let options = StoreOptions { dialect: Dialect::Valkey, servers, timeout, name, user, password, tls: None };
        let members = Members::start(Common::new(&options), options.servers);
        let range = |first, last, host: &str, port| SlotRange { first, last, host: host.into(), port };
        let ranges = vec![range(100, 16_383, "b", 2), range(0, 49, "", 1), range(50, 50, "b", 2)];
        let cluster = members.of_ranges(ranges, &named, &members.named);
        let of = |slot| cluster.server_for(slot).map(|server| server.address().to_string());
        assert_eq!(
            [0, 49, 50, 51, 99, 100, 16_383].map(of),
            [
                Some("seed:1".into()),
                Some("seed:1".into()),
                Some("b:2".into()),
                None,
                None,
                Some("b:2".into()),
                Some("b:2".into()),
            ]
        );
        assert!(Arc::ptr_eq(&cluster.primaries[1], &members.named[0]), "one that is named has one line");
        assert_eq!(cluster.primaries.len(), 2);
    }
}
