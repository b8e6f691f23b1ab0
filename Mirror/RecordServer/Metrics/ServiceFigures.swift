package import Platform
package import RecordService

/// What the service behind a server tells of itself.
package struct ServiceFigures: Sendable {
    /// What one container holds.
    package struct Container: Sendable {
        package var name: String
        package var records: Int64
        package var bytes: Int64

        package init(name: String, records: Int64, bytes: Int64) {
            self.name = name
            self.records = records
            self.bytes = bytes
        }
    }

    package var statistics = ServiceStatistics()
    package var commitSizes: HistogramSummary?
    package var usedBytes: Int64?
    package var freeBytes: Int64?
    /// Those that hold most; not all, for each is a series of its own to who keeps the figures.
    package var containers: [Container] = []

    package init() {}
}

/// What a server does for whoever runs the service behind it.
package struct ServiceWatch: Sendable {
    /// Done each second.
    package var everySecond: @Sendable () -> Void = {}
    /// Done once the server has stopped.
    package var atEnd: @Sendable () -> Void = {}
    /// Why the service cannot do its work, in words that strangers may read; nil where it can.
    package var unreadiness: @Sendable () -> String? = { nil }
    package var figures: @Sendable () -> ServiceFigures = { ServiceFigures() }

    package init() {}
}
