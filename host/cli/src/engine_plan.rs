//! What launching an engine means: its launch plan, ports, devices. Contacts nothing.

use crate::catalog::{self, Loaded};
use crate::diagnostics::Failure;
use crate::samples::refuse_errors;
use bench_core::adapter::{AdapterDiagnostic, Severity};
use bench_core::launch::{Device, LaunchPlan, LaunchRequest, Vendor};
use bench_plugin::EngineAdapter;
use bench_workload::{EnginePlan, Gpus, LaunchSettings};

/// One replica as the adapter would have it launched.
pub(crate) struct ReplicaPlan {
    /// What to start.
    pub(crate) plan: LaunchPlan,
    /// What was asked of the adapter.
    pub(crate) request: LaunchRequest,
    /// What the adapter has to say; no errors among it.
    pub(crate) said: Vec<AdapterDiagnostic>,
}

/// How many ports a replica needs.
///
/// # Errors
/// The adapter fails.
pub(crate) fn ports_needed(engine: &Loaded<EngineAdapter>, plan: &EnginePlan) -> Result<u32, Failure> {
    engine.adapter.ports_needed(&plan.settings).map_err(|e| catalog::failure("failed to plan the launch", &e))
}

/// The ports of a replica where the workload fixes the first of all.
///
/// # Errors
/// They pass 65535.
pub(crate) fn fixed_ports(first: u16, replica: u32, count: u32) -> Result<Vec<u16>, Failure> {
    let begin = u64::from(first) + u64::from(replica) * u64::from(count);
    let ports = (begin..begin + u64::from(count)).map(u16::try_from).collect::<Result<_, _>>();
    ports.map_err(|_| {
        Failure::input(format!("the ports of replica {replica} pass 65535")).help("set a lower `engine.launch.port`")
    })
}

/// Asks the adapter how to launch one replica.
///
/// # Errors
/// The settings can't work, or the adapter fails.
pub(crate) fn replica(
    engine: &Loaded<EngineAdapter>,
    plan: &EnginePlan,
    launch: &LaunchSettings,
    replica: u32,
    ports: Vec<u16>,
    folder: &str,
) -> Result<ReplicaPlan, Failure> {
    let request = LaunchRequest {
        model: plan.model.clone(),
        settings: plan.settings.clone(),
        replica,
        replicas: launch.replicas,
        devices: devices(launch, replica)?,
        ports,
        host: launch.host.clone(),
        folder: folder.to_owned(),
        engine_version: None,
    };
    let failed = |e: &bench_plugin::PluginError| catalog::failure("failed to plan the launch", e);
    let said = engine.adapter.check(&request).map_err(|e| failed(&e))?;
    refuse_errors(&said, &format!("engine `{}` can't be launched so", plan.adapter.id))?;
    let said = said.into_iter().filter(|d| d.severity != Severity::Error).collect();
    let plan = engine.adapter.launch(&request).map_err(|e| failed(&e))?;
    Ok(ReplicaPlan { plan, request, said })
}

/// The devices of one replica: an equal share of those of the launch, in order.
fn devices(launch: &LaunchSettings, replica: u32) -> Result<Vec<Device>, Failure> {
    let indices: Vec<u32> = match &launch.gpus {
        None => return Ok(Vec::new()),
        Some(Gpus::Count(n)) => (0..*n).collect(),
        Some(Gpus::Indices(list)) => list.clone(),
    };
    let replicas = launch.replicas as usize;
    if !indices.len().is_multiple_of(replicas) {
        return Err(Failure::input(format!(
            "{} devices can't be shared equally by {replicas} replicas",
            indices.len()
        ))
        .help("set `engine.launch.gpus` to a multiple of `engine.launch.replicas`"));
    }
    let share = indices.len() / replicas;
    let mine = indices.into_iter().skip(share * replica as usize).take(share);
    Ok(mine.map(device).collect())
}

/// What a plan knows of a device: its number. Whose it is decides which variables hide the others.
fn device(index: u32) -> Device {
    Device { index, uuid: None, vendor: Vendor::Nvidia, name: format!("GPU {index}"), memory_bytes: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(replicas: u32, gpus: Option<Gpus>) -> LaunchSettings {
        LaunchSettings {
            replicas,
            gpus,
            host: "127.0.0.1".into(),
            port: None,
            ready_timeout: None,
            extra_args: Vec::new(),
            env: Default::default(),
            programs: Default::default(),
            allow: Vec::new(),
        }
    }

    #[test]
    fn replicas_share_devices_in_order() {
        let of = |replica| -> Vec<u32> {
            devices(&launch(2, Some(Gpus::Indices(vec![4, 5, 6, 7]))), replica)
                .unwrap()
                .iter()
                .map(|d| d.index)
                .collect()
        };
        assert_eq!((of(0), of(1)), (vec![4, 5], vec![6, 7]));
        assert!(devices(&launch(2, None), 1).unwrap().is_empty());
    }

    #[test]
    fn devices_that_do_not_divide_are_refused() {
        let failure = devices(&launch(3, Some(Gpus::Count(4))), 0).unwrap_err();
        assert_eq!(failure.to_string(), "4 devices can't be shared equally by 3 replicas");
    }
}
