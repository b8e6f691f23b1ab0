internal import Platform

/// What a backend tells of itself to who watches the service; nil for what it cannot know.
struct BackendFacts: Sendable {
    /// How many requests shared each commit.
    var commitSizes: HistogramSummary?
    var storageBytes: Int64?
    /// What is left on the disk of the rows for this process.
    var freeBytes: Int64?
    /// Who of those who write waits for whom.
    var writerOrder = WriterOrder.ofContainers
}

extension Backend {
    func facts() -> BackendFacts { BackendFacts() }

    func probe() throws {
        _ = try read { try $0.hasContainer("") }
    }
}
