internal import CSQLite
public import Platform

/// Tells of each statement that a connection runs, with the time SQLite took for it.
///
/// Level 1 tells the text, 2 also the values, cut to a line, 3 whole values, 4 the plan too. Queue:
/// the connection's, on which `write` is called while the statement ends.
public final class StatementTrace {
    /// What is told where the environment asks for it.
    public static let level = DebugSwitch.sql.level
    private static let shownMax = 500

    let level: Int
    private let write: (String) -> Void

    /// `write` takes one line, which may hold anything that the program's values hold.
    public init(level: Int, write: @escaping (String) -> Void = DebugSwitch.print) {
        self.level = level
        self.write = write
    }

    /// Called by SQLite when a statement ended.
    fileprivate func ended(_ statement: OpaquePointer, nanoseconds: Int64) {
        guard let text = sqlite3_sql(statement).map({ String(cString: $0) }) else { return }
        write("sql: \(text)")
        if level >= 2, let expanded = sqlite3_expanded_sql(statement) {
            let values = String(cString: expanded)
            sqlite3_free(expanded)
            if values != text {
                let isLong = level < 3 && values.utf8.count > Self.shownMax
                write("details: \(isLong ? values.prefix(Self.shownMax) + "…" : values[...])")
            }
        }
        write("annotation: sql execution time: \(Self.seconds(nanoseconds))s")
    }

    /// Tells how SQLite means to run a statement.
    func planned(_ steps: [String]) {
        for step in steps { write("details: plan: \(step)") }
    }

    private static func seconds(_ nanoseconds: Int64) -> String {
        let tenThousandths = nanoseconds / 100_000
        let fraction = String(tenThousandths % 10_000)
        let zeros = String(repeating: "0", count: 4 - fraction.count)
        return "\(tenThousandths / 10_000).\(zeros)\(fraction)"
    }
}

extension Connection {
    /// Tells `trace` of what is run from now on; nil for nobody.
    public func follow(with trace: StatementTrace?) {
        self.trace = trace
        let context = trace.map { Unmanaged.passUnretained($0).toOpaque() }
        let mask = trace == nil ? 0 : UInt32(SQLITE_TRACE_PROFILE)
        let called:
            @convention(c) (
                UInt32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
            ) -> Int32 = { _, context, statement, time in
                guard let context, let statement, let time else { return 0 }
                Unmanaged<StatementTrace>.fromOpaque(context).takeUnretainedValue().ended(
                    OpaquePointer(statement),
                    nanoseconds: time.assumingMemoryBound(to: Int64.self).pointee)
                return 0
            }
        sqlite3_trace_v2(handle, mask, called, context)
    }

    /// Tells the plan of a statement, where the trace asks for plans.
    func tellPlan(of sql: String) {
        guard let trace, trace.level >= 4, !sql.hasPrefix("EXPLAIN") else { return }
        var compiled: OpaquePointer?
        guard
            sqlite3_prepare_v2(handle, "EXPLAIN QUERY PLAN " + sql, -1, &compiled, nil) == SQLITE_OK
        else { return }
        defer { sqlite3_finalize(compiled) }
        var steps: [String] = []
        while sqlite3_step(compiled) == SQLITE_ROW {
            if let text = sqlite3_column_text(compiled, 3) { steps.append(String(cString: text)) }
        }
        trace.planned(steps)
    }
}
