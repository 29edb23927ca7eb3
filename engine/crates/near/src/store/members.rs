//! Which servers a store has, and which one of them has a key: by a ring of those that are named, or as the cluster says that they form.

use super::Id;
use super::line::{Common, Line};
use super::reply::{Range, Reply, Wants, key};
use super::ring::Ring;
use super::valkey;
use crate::server::Server;
use locks::RwLock;
use near_core::clock;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::time::sleep;

/// Of a cluster.
const SLOTS: u16 = 16_384;
/// Who has which slots is asked once in this time, however many answers say that it has changed.
const PAUSE: Duration = Duration::from_millis(250);

pub struct Members {
    common: Arc<Common>,
    named: Vec<Arc<Line>>,
    ring: Ring,
    /// None unless they form one.
    cluster: RwLock<Option<Cluster>>,
}

#[derive(Clone, Default)]
struct Cluster {
    /// Those that have slots.
    primaries: Vec<Arc<Line>>,
    /// The last slot of a range, the first one, and whose it is; in order.
    ranges: Vec<(u16, u16, usize)>,
}

impl Cluster {
    fn line(&self, slot: u16) -> Option<&Arc<Line>> {
        let at = self.ranges.partition_point(|(last, ..)| *last < slot);
        let (_, _, owner) = self.ranges.get(at).filter(|(_, first, _)| *first <= slot)?;
        Some(&self.primaries[*owner])
    }
}

impl Members {
    pub fn begin(common: Common, servers: Vec<Server>) -> Arc<Members> {
        let common = Arc::new(common);
        let ring = Ring::of(servers.iter().map(Server::to_string));
        let named = servers.into_iter().map(|server| Line::new(&common, server)).collect();
        let members = Arc::new(Members { common, named, ring, cluster: RwLock::default() });
        tokio::spawn(follow(members.clone()));
        members
    }

    pub fn common(&self) -> &Common {
        &self.common
    }

    fn cluster(&self) -> Option<Cluster> {
        self.cluster.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// To each server that is used.
    pub fn lines(&self) -> Vec<Arc<Line>> {
        let cluster = self.cluster();
        let members = cluster.as_ref().map_or(&self.named, |cluster| &cluster.primaries);
        members.clone()
    }

    /// To the primary that has the key's slot; on the ring to the first one that answers: what another one may have meanwhile is no
    /// worse than it was. None if nobody may be asked.
    pub fn line(&self, id: &Id) -> Option<Arc<Line>> {
        let now = clock::now();
        let may_ask = |line: &&Arc<Line>| line.may_ask(now);
        if let Some(cluster) = &*self.cluster.read().unwrap_or_else(PoisonError::into_inner) {
            return cluster.line(slot(&key(id))).filter(may_ask).cloned();
        }
        self.ring.from(id).map(|index| &self.named[index]).find(may_ask).cloned()
    }

    /// Asks one after the other, those first that answer, until one says who has which slots.
    async fn read(&self, round: usize) {
        let mut known = self.cluster().unwrap_or_default().primaries;
        known.extend(self.named.iter().cloned());
        // What one says that the others have cut off is not all that is ever heard.
        let first = round % known.len().max(1);
        known.rotate_left(first);
        known.sort_by_cached_key(|member| !member.answers());
        for member in &known {
            let answer = member.ask(valkey::slots(), Wants::Slots).await;
            if let Some((Reply::Slots(ranges), _)) = answer
                && !ranges.is_empty()
            {
                let cluster = self.of_ranges(ranges, member.server(), &known);
                *self.cluster.write().unwrap_or_else(PoisonError::into_inner) = Some(cluster);
                return;
            }
        }
    }

    fn of_ranges(&self, told: Vec<Range>, teller: &Server, known: &[Arc<Line>]) -> Cluster {
        let (mut cluster, mut indexes) = (Cluster::default(), HashMap::new());
        for Range { first, last, host, port } in told {
            let host = if host.is_empty() { teller.host().to_owned() } else { host };
            let server = Server::Tcp { host, port };
            let owner = *indexes.entry(server.to_string()).or_insert_with(|| {
                let is_known = known.iter().find(|member| *member.server() == server).cloned();
                cluster.primaries.push(is_known.unwrap_or_else(|| Line::new(&self.common, server)));
                cluster.primaries.len() - 1
            });
            cluster.ranges.push((last, first, owner));
        }
        cluster.ranges.sort_unstable();
        cluster
    }
}

async fn follow(members: Arc<Members>) {
    for round in 0.. {
        members.common.has_changed.notified().await;
        members.read(round).await;
        sleep(PAUSE).await;
    }
}

/// Our keys have no part in braces, which alone would count.
fn slot(key: &str) -> u16 {
    let crc = key.bytes().fold(0u16, |crc, byte| (crc << 8) ^ CRC[usize::from((crc >> 8) as u8 ^ byte)]);
    crc % SLOTS
}

/// CRC16 with the polynomial of XMODEM.
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
    use crate::store::{Dialect, Options};

    /// As `CLUSTER KEYSLOT` says.
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
        let options = Options { dialect: Dialect::Valkey, servers, timeout, name, user, password, tls: None };
        let members = Members::begin(Common::new(&options), options.servers);
        let range = |first, last, host: &str, port| Range { first, last, host: host.into(), port };
        let told = vec![range(100, 16_383, "b", 2), range(0, 49, "", 1), range(50, 50, "b", 2)];
        let cluster = members.of_ranges(told, &named, &members.named);
        let of = |slot| cluster.line(slot).map(|line| line.server().to_string());
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
