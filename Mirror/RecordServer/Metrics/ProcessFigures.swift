internal import Foundation

/// What the system knows of this process, by the names that all programs use.
struct ProcessFigures {
    func write(to page: inout ExpositionText) {
        page.single(
            "process_cpu_seconds_total", .counter, "Processor time, user and system.", cpuSeconds)
        if let memory {
            page.single(
                "process_virtual_memory_bytes", .gauge, "Address space.", memory.virtual)
            page.single(
                "process_resident_memory_bytes", .gauge, "Memory in use.", memory.resident)
        }
        if let started {
            page.single(
                "process_start_time_seconds", .gauge, "When it started, since 1970.", started)
        }
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            page.single("process_open_fds", .gauge, "Open descriptors.", Double(open.count))
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            page.single(
                "process_max_fds", .gauge, "Descriptors it may open.", Double(limit.rlim_cur))
        }
    }

    private var cpuSeconds: Double {
        var use = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &use)
        return [use.ru_utime, use.ru_stime].reduce(0) {
            $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
        }
    }

    private var memory: (virtual: Double, resident: Double)? {
        let pages = words(of: "/proc/self/statm").prefix(2).compactMap { Double($0) }
        let size = Double(sysconf(Int32(_SC_PAGESIZE)))
        return pages.count == 2 ? (pages[0] * size, pages[1] * size) : nil
    }

    /// The kernel counts it in ticks since the machine's start.
    private var started: Double? {
        // The name of the program, in brackets, may hold spaces.
        guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let bracket = text.lastIndex(of: ")")
        else { return nil }
        let rest = text[bracket...].split(separator: " ")
        let boot = words(of: "/proc/stat").drop { $0 != "btime" }.dropFirst().first
        let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
        guard rest.count > 20, let ticks = Double(rest[20]), let boot = boot.flatMap({ Double($0) })
        else { return nil }
        return boot + ticks / ticksPerSecond
    }

    private func words(of file: String) -> [Substring] {
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        return text.split { $0.isWhitespace }
    }
}
