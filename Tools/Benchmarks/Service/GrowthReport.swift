internal import Foundation

/// Whether a request costs the same in a zone of a thousand records and in one of millions.
enum GrowthReport {
    static func run(count: Int) throws {
        let counts = sequence(first: 1_000) { $0 * 10 }.prefix { $0 <= max(1_000, count) }
        let folder = try TemporaryFolder()
        let found = try ChildProcess.run(
            .growth, [folder.url.path, counts.map(String.init).joined(separator: ",")])
        Report.facts("A request to a growing zone, processor time in the service alone")
        for kind in GrowthFigures.kinds {
            var first: Double?
            for count in counts {
                let cost = found[GrowthFigures.name(kind, count)]
                let ratio = first.map { String(format: "   %.2f", cost / $0) } ?? ""
                first = first ?? cost
                let title = "\(kind), of \(Report.grouped(Double(count)))"
                Report.fact(title, String(format: "%.0f us", cost * 1e6) + ratio)
            }
        }
        Report.note("What changed: one edit, and the page that tells it. Lookups are of ten names.")
    }
}
