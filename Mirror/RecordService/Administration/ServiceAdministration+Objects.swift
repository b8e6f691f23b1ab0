internal import Foundation
public import RecordWire

/// Objects of a bucket of which the database knows nothing.
extension ServiceAdministration {
    private static let removedAtOnceMax = 10

    /// Looks through a bucket for contents that no record and no upload of this database names, and
    /// that have been there for `graceSeconds`; `tell` hears of each. They are removed where
    /// `removes` says so, each under the lock of who takes uploads, once the database was asked
    /// again. What is not called as a content is, is left out.
    ///
    /// Never called by a service: the objects may be named by another database, such as that of
    /// another service or the newer one of which a backup was put back. Throws TRY_AGAIN_LATER
    /// where the bucket does not answer, and remembers nothing. Cost: a request for each thousand
    /// objects, one for each that goes, a look into the database for all.
    public func lookForOrphans(
        in place: ObjectPlace, graceSeconds: Int = AssetLimits().graceSeconds, removes: Bool,
        _ tell: (ListedObject) -> Void
    ) throws(RecordError) -> OrphanReport {
        let bucket = bucket(at: place)
        var report = OrphanReport()
        var failure: RecordError?
        do throws(RecordError) {
            try look(through: bucket, graceSeconds, removes: removes, &report, tell)
        } catch {
            failure = error
        }
        // What went is noted, also where not all of it could go.
        if report.removed > 0 {
            try note(.assetsRemoved, bucket.place, ["objects": "\(report.removed)"])
        }
        if let failure { throw failure }
        return report
    }

    private func look(
        through bucket: AssetBucket, _ graceSeconds: Int, removes: Bool,
        _ report: inout OrphanReport, _ tell: (ListedObject) -> Void
    ) throws(RecordError) {
        let oldest = now.addingTimeInterval(-Double(graceSeconds))
        var mark: String?
        repeat {
            let page = try bucket.list(after: mark)
            let unknown = try backend.read { transaction in
                try page.objects.filter { try transaction.assetSize($0.checksum) == nil }
            }
            let orphans = unknown.filter { $0.modified < oldest }
            report.objects += page.objects.count
            report.young += unknown.count - orphans.count
            for object in orphans {
                report.orphans += 1
                report.bytes += min(object.size, .max - report.bytes)
                tell(object)
            }
            if removes { try remove(orphans[...], from: bucket, &report) }
            mark = page.mark
        } while mark != nil
    }

    private func remove(
        _ orphans: ArraySlice<ListedObject>, from bucket: AssetBucket,
        _ report: inout OrphanReport
    ) throws(RecordError) {
        var rest = orphans
        while !rest.isEmpty {
            let slice = rest.prefix(Self.removedAtOnceMax)
            rest = rest.dropFirst(slice.count)
            report.removed += try backend.write { transaction in
                try transaction.lockAssets()
                // Whoever uploads the same content meanwhile notes it before it is in the bucket.
                let gone = try slice.filter { try transaction.assetSize($0.checksum) == nil }
                for object in gone { try bucket.remove(object.checksum) }
                return gone.count
            }
        }
    }
}

/// What a look for orphans found.
public struct OrphanReport: Hashable, Sendable {
    /// All that are called as contents are.
    public var objects = 0
    /// Those that nothing names, and their bytes.
    public var orphans = 0
    public var bytes: Int64 = 0
    /// Those that nothing names either, and that are too young.
    public var young = 0
    public var removed = 0
}
