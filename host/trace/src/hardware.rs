//! The machine, as its kernel tells it. Nothing is run, and only files are read.

use bench_core::launch::Vendor;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// A machine. Absent is what the kernel does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hardware {
    /// Operating system and architecture: `linux x86_64`.
    pub platform: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Model of the processor.
    pub cpu: Option<String>,
    /// Logical processors that this process may use.
    pub cpus: Option<u32>,
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
    /// Display and compute devices of known vendors.
    pub gpus: Vec<Gpu>,
}

/// A GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// Who made it.
    pub vendor: Vendor,
    /// Product name.
    pub name: Option<String>,
    /// Address on the PCI bus.
    pub pci: String,
}

impl Hardware {
    /// This machine.
    pub fn probe() -> Hardware {
        let read = |path: &str| fs::read_to_string(path).ok();
        Hardware {
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: read("/proc/sys/kernel/osrelease").map(|s| s.trim().to_owned()).filter(|s| !s.is_empty()),
            cpu: read("/proc/cpuinfo").as_deref().and_then(cpu_model),
            cpus: std::thread::available_parallelism().ok().and_then(|n| n.get().try_into().ok()),
            memory_bytes: read("/proc/meminfo").as_deref().and_then(memory_bytes),
            gpus: gpus(Path::new("/sys/bus/pci/devices"), Path::new("/proc/driver/nvidia/gpus")),
        }
    }
}

/// Value of the first line `key : value` of a text.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(k, _)| k.trim() == key).map(|(_, v)| v.trim()).filter(|v| !v.is_empty())
}

/// Model of the processor out of `/proc/cpuinfo`.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    field(cpuinfo, "model name").map(str::to_owned)
}

/// Bytes of memory out of `/proc/meminfo`, which counts in KiB.
fn memory_bytes(meminfo: &str) -> Option<u64> {
    let kib: u64 = field(meminfo, "MemTotal")?.strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Devices of the PCI class display controller (0x03) or processing accelerator (0x12), sorted by address.
fn gpus(devices: &Path, nvidia: &Path) -> Vec<Gpu> {
    let Ok(entries) = fs::read_dir(devices) else { return Vec::new() };
    let mut gpus: Vec<Gpu> = entries
        .flatten()
        .filter_map(|entry| {
            let read = |name: &str| fs::read_to_string(entry.path().join(name)).ok();
            let class = read("class")?;
            if !(class.starts_with("0x03") || class.starts_with("0x12")) {
                return None;
            }
            let vendor = match read("vendor")?.trim() {
                "0x10de" => Vendor::Nvidia,
                "0x1002" => Vendor::Amd,
                "0x8086" => Vendor::Intel,
                _ => return None,
            };
            let pci = entry.file_name().to_string_lossy().into_owned();
            let name = fs::read_to_string(nvidia.join(&pci).join("information")).ok();
            let name = name.as_deref().and_then(|text| field(text, "Model")).map(str::to_owned);
            Some(Gpu { vendor, name, pci })
        })
        .collect();
    gpus.sort_by(|a, b| a.pci.cmp(&b.pci));
    gpus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_tables() {
        let cpuinfo = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9654 96-Core Processor\n\n\
                       processor\t: 1\nmodel name\t: other\n";
        assert_eq!(cpu_model(cpuinfo).as_deref(), Some("AMD EPYC 9654 96-Core Processor"));
        assert_eq!(cpu_model("processor\t: 0\nBogoMIPS\t: 50.00\n"), None);
        assert_eq!(memory_bytes("MemTotal:       25165824 kB\nMemFree: 1 kB\n"), Some(25_165_824 * 1024));
        for text in ["", "MemTotal: many kB\n", "MemTotal: 18446744073709551615 kB\n", "MemFree: 1 kB\n"] {
            assert_eq!(memory_bytes(text), None);
        }
    }

    #[test]
    fn finds_gpus_of_known_vendors() {
        let dir = tempfile::tempdir().unwrap();
        let (devices, nvidia) = (dir.path().join("devices"), dir.path().join("nvidia"));
        for (pci, class, vendor) in [
            ("0000:82:00.0", "0x030200\n", "0x10de\n"),
            ("0000:01:00.0", "0x120000\n", "0x1002\n"),
            ("0000:00:02.0", "0x030000\n", "0x1234\n"),
            ("0000:00:1f.0", "0x010600\n", "0x8086\n"),
        ] {
            fs::create_dir_all(devices.join(pci)).unwrap();
            fs::write(devices.join(pci).join("class"), class).unwrap();
            fs::write(devices.join(pci).join("vendor"), vendor).unwrap();
        }
        fs::create_dir_all(nvidia.join("0000:82:00.0")).unwrap();
        fs::write(nvidia.join("0000:82:00.0/information"), "Model: \t\t NVIDIA H200\nIRQ: 1\n").unwrap();
        let found = gpus(&devices, &nvidia);
        assert_eq!(
            found,
            [
                Gpu { vendor: Vendor::Amd, name: None, pci: "0000:01:00.0".into() },
                Gpu { vendor: Vendor::Nvidia, name: Some("NVIDIA H200".into()), pci: "0000:82:00.0".into() },
            ]
        );
        assert!(gpus(&dir.path().join("none"), &nvidia).is_empty());
    }

    #[test]
    fn knows_this_machine() {
        let hardware = Hardware::probe();
        assert!(hardware.platform.starts_with(std::env::consts::OS));
        assert!(hardware.cpus.is_some_and(|n| n > 0));
    }
}
