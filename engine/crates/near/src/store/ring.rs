//! Consistent hashing: decides which of several servers has a key. If a server is added or removed, few keys move.

use super::StoreKey;
use near_core::digest;

/// The number of points of each server on the ring. More points spread the keys more evenly.
const POINTS: u32 = 160;

/// A hash ring of servers: each has many points on a circle of numbers, and a key belongs to the server with the next point.
pub struct Ring {
    /// The points on the ring, sorted: a position, and the index of the server that it belongs to.
    points: Vec<(u64, usize)>,
    servers: usize,
}

impl Ring {
    /// Makes the ring of these servers, by their addresses. Their order does not matter: near caches that name the same servers find the
    /// same one for a key.
    pub fn new(servers: impl Iterator<Item = String>) -> Ring {
        let mut points = Vec::new();
        let mut count = 0;
        for (index, server) in servers.enumerate() {
            let position = |number: u32| position(&digest::of([server.as_bytes(), &number.to_le_bytes()].into_iter()));
            points.extend((0..POINTS).map(|number| (position(number), index)));
            count = index + 1;
        }
        points.sort_unstable();
        Ring { points, servers: count }
    }

    /// Returns the index of each server once: first that of the server that has the key, then those of the servers that replace it in turn.
    /// The indexes are those of the servers in the list given to [`new`](Self::new).
    pub fn candidates(&self, id: &StoreKey) -> impl Iterator<Item = usize> {
        let first = self.points.partition_point(|(at, _)| *at < position(id));
        let mut seen = vec![false; self.servers];
        let points = self.points[first..].iter().chain(&self.points[..first]);
        points.filter(move |(_, server)| !std::mem::replace(&mut seen[*server], true)).map(|(_, server)| *server)
    }
}

/// Returns the position of a hash on the ring.
fn position(id: &StoreKey) -> u64 {
    id.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the key with this number.
    fn id(number: u32) -> StoreKey {
        digest::of([&number.to_le_bytes()[..]].into_iter())
    }

    /// Returns the server that has the key with this number.
    fn first<'a>(names: &[&'a str], number: u32) -> &'a str {
        let ring = Ring::new(names.iter().map(|name| name.to_string()));
        names[ring.candidates(&id(number)).next().expect("a server")]
    }

    #[test]
    fn keys_are_spread_and_few_move_when_a_server_goes() {
        let (all, fewer) = (["a:1", "b:1", "c:1"], ["c:1", "a:1"]);
        let mut counts = [0; 3];
        for number in 0..3000 {
            let before = first(&all, number);
            counts[all.iter().position(|name| *name == before).expect("one of them")] += 1;
            if before != "b:1" {
                assert_eq!(first(&fewer, number), before);
            }
        }
        assert!(counts.iter().all(|count| (700..1300).contains(count)), "{counts:?}");
    }

    #[test]
    fn who_takes_the_place_of_another_is_the_one_that_would_have_it_alone() {
        let ring = Ring::new(["a:1", "b:1", "c:1"].iter().map(|name| name.to_string()));
        for number in 0..100 {
            let order: Vec<_> = ring.candidates(&id(number)).collect();
            assert_eq!(order.len(), 3);
            let rest: Vec<_> =
                ["a:1", "b:1", "c:1"].into_iter().enumerate().filter(|(at, _)| *at != order[0]).collect();
            let names: Vec<_> = rest.iter().map(|(_, name)| *name).collect();
            let next = rest.iter().find(|(at, _)| *at == order[1]).expect("it is left").1;
            assert_eq!(first(&names, number), next);
        }
    }

    #[test]
    fn without_servers_nobody_is_asked() {
        assert_eq!(Ring::new(std::iter::empty()).candidates(&id(1)).next(), None);
    }
}
