internal import Foundation
public import RecordWire

/// The contents of a bucket, compared with what the database knows of.
extension ServiceAdministration {
    private static let removedAtOnceMax = 10
    private static let pageMax = 1_000

    /// Looks through a bucket for contents that no record and no upload of this database names, and
    /// that have been there for `graceSeconds`, and for those that records name and that are not
    /// there, or are of another size; `tell` hears of each. The former are removed where `removes`
    /// says so, each under the lock of who takes uploads, once the database was asked again. What
    /// is not called as a content is, is left out.
    ///
    /// No service removes any by itself: the objects may be named by another database, such as that
    /// of another service or the newer one of which a backup was put back. Throws TRY_AGAIN_LATER
    /// where the bucket does not answer, and remembers nothing; INTERNAL_ERROR where a container
    /// cannot be read, which may name what nothing else does. Cost: a request for each thousand
    /// objects, one for each that goes or is missing, a look into the database for all. A store
    /// that lists objects in another order than that of their names is asked for each content.
    public func compareObjects(
        in place: ObjectPlace, graceSeconds: Int = AssetLimits().graceSeconds, removes: Bool,
        _ tell: (ObjectFinding) -> Void
    ) throws(RecordError) -> ObjectReport {
        try compareObjects(
            in: bucket(at: place), graceSeconds: graceSeconds, removes: removes, tell)
    }

    func compareObjects(
        in bucket: AssetBucket, graceSeconds: Int, removes: Bool, _ tell: (ObjectFinding) -> Void
    ) throws(RecordError) -> ObjectReport {
        // Of what was put back from a backup, a container may name what is not known otherwise.
        try backend.settle()
        var report = ObjectReport()
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
        _ report: inout ObjectReport, _ tell: (ObjectFinding) -> Void
    ) throws(RecordError) {
        let oldest = now.addingTimeInterval(-Double(graceSeconds))
        var mark: String?
        var lastNamed: AssetChecksum?
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
                tell(.orphan(object))
            }
            try findMissing(beside: page, after: &lastNamed, in: bucket) { object in
                report.missing += 1
                tell(.missing(object))
            }
            if removes { try remove(orphans[...], from: bucket, &report) }
            mark = page.mark
        } while mark != nil
    }

    /// Goes on behind `last` through what records name, as far as the page reaches. What it does
    /// not list is asked for by itself: the list may be older than an upload, or in another order.
    private func findMissing(
        beside page: ObjectPage, after last: inout AssetChecksum?, in bucket: AssetBucket,
        _ tell: (StoredObject) -> Void
    ) throws(RecordError) {
        let sizes = Dictionary(
            page.objects.map { ($0.checksum, $0.size) }, uniquingKeysWith: { first, _ in first })
        let end = page.objects.lazy.map(\.checksum).max()
        if page.mark != nil, end == nil { return }
        while true {
            let start = last
            let named = try backend.read {
                try $0.namedAssets(after: start, limit: Self.pageMax)
            }
            let reached = named.prefix { content in
                page.mark == nil || end.map { content.checksum <= $0 } ?? false
            }
            for content in reached where sizes[content.checksum] != content.size {
                guard try !bucket.has(content),
                    // Its record may have gone meanwhile.
                    try backend.read({ try $0.isAssetUsed(content.checksum) })
                else { continue }
                tell(StoredObject(content.checksum, size: content.size))
            }
            last = reached.last?.checksum ?? last
            guard !named.isEmpty, reached.count == named.count else { return }
        }
    }

    private func remove(
        _ orphans: ArraySlice<ListedObject>, from bucket: AssetBucket,
        _ report: inout ObjectReport
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

/// What a bucket has too much, or too little.
public enum ObjectFinding: Hashable, Sendable {
    /// No record and no upload names it.
    case orphan(ListedObject)
    /// A record names it, and it is not there, or is of another size.
    case missing(StoredObject)
}

/// What a look through a bucket found.
public struct ObjectReport: Hashable, Sendable {
    /// All that are called as contents are.
    public var objects = 0
    /// Those that nothing names, and their bytes.
    public var orphans = 0
    public var bytes: Int64 = 0
    /// Those that nothing names either, and that are too young.
    public var young = 0
    public var removed = 0
    /// Contents that records name and that are not there.
    public var missing = 0
}
