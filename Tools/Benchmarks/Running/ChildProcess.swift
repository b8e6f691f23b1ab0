internal import Foundation

/// This program again, in another role. What it measured comes back as lines `name value`.
final class ChildProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ role: ProcessRole, _ words: [String]) throws {
        process.executableURL = URL(
            fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/exe"))
        process.arguments = ["--role", role.rawValue] + words
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Runs a role to its end.
    static func run(_ role: ProcessRole, _ words: [String]) throws -> Findings {
        try ChildProcess(role, words).findings()
    }

    /// Lets a role end that waits for its input to close.
    func end() throws -> Findings {
        try input.fileHandleForWriting.close()
        return try findings()
    }

    /// Ends the process without its findings; for runs that failed.
    func abandon() {
        if process.isRunning { process.terminate() }
    }

    private func findings() throws -> Findings {
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let words = process.arguments?.joined(separator: " ") ?? ""
        guard process.terminationStatus == 0 else {
            throw BenchmarkError("'diptych-bench \(words)' failed.")
        }
        return Findings(String(decoding: data, as: UTF8.self))
    }
}

/// Named numbers that one process found.
struct Findings {
    private var values: [String: Double] = [:]

    init() {}

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, let value = Double(words[1]) { values[String(words[0])] = value }
        }
    }

    subscript(name: String) -> Double {
        get { values[name] ?? 0 }
        set { values[name] = newValue }
    }

    /// Takes over what another process found.
    mutating func add(_ other: Findings) { values.merge(other.values) { $1 } }

    /// Keeps the smaller of two times.
    mutating func note(_ name: String, seconds: Double) {
        values[name] = min(values[name] ?? .infinity, seconds)
    }

    /// Prints all of it for the process that asked, with this process's peak memory and
    /// processor time.
    func send() {
        for (name, value) in values { print(name, value) }
        print("peakBytes", PeakMemory.bytes)
        print("cpuSeconds", Stopwatch.cpuSeconds)
    }
}
