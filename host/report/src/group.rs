//! Rows that make one result: a scenario run once.

use bench_core::record::RequestRecord;
use std::sync::Arc;

/// Which result a row belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupKey {
    /// Stage of the study.
    pub stage: Option<Arc<str>>,
    /// Candidate of the stage.
    pub candidate: Option<Arc<str>>,
    /// Scenario.
    pub scenario: Arc<str>,
    /// Number of the repeat, from 0.
    pub repeat: u32,
}

impl GroupKey {
    /// That of a row.
    pub fn of(row: &RequestRecord) -> GroupKey {
        GroupKey {
            stage: row.stage.clone(),
            candidate: row.candidate.clone(),
            scenario: row.scenario.clone(),
            repeat: row.repeat,
        }
    }

    /// The row belongs to it; as `GroupKey::of(row) == self`, without counting references.
    pub fn holds(&self, row: &RequestRecord) -> bool {
        self.repeat == row.repeat
            && self.scenario == row.scenario
            && self.stage == row.stage
            && self.candidate == row.candidate
    }
}

/// Something for each group, found fast for rows that come group after group.
#[derive(Debug)]
pub(crate) struct Grouped<T> {
    groups: Vec<(GroupKey, T)>,
    latest: usize,
}

impl<T> Grouped<T> {
    pub(crate) fn new() -> Grouped<T> {
        Grouped { groups: Vec::new(), latest: 0 }
    }

    /// That of the row's group, made on its first row.
    pub(crate) fn entry(&mut self, row: &RequestRecord, make: impl FnOnce(&GroupKey) -> T) -> &mut T {
        if !self.groups.get(self.latest).is_some_and(|(key, _)| key.holds(row)) {
            self.latest = self.groups.iter().position(|(key, _)| key.holds(row)).unwrap_or_else(|| {
                let key = GroupKey::of(row);
                let value = make(&key);
                self.groups.push((key, value));
                self.groups.len() - 1
            });
        }
        &mut self.groups[self.latest].1
    }

    /// In the order of first rows.
    pub(crate) fn into_vec(self) -> Vec<(GroupKey, T)> {
        self.groups
    }

    pub(crate) fn get(&self, key: &GroupKey) -> Option<&T> {
        self.groups.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }
}
