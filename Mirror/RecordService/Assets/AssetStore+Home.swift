internal import Foundation
internal import Platform
public import RecordWire

/// Whether contents go where the other services on the database look for them.
///
/// The first service keeps a content there that is like no other, and the database knows it: the
/// **mark**. Whoever does not find it has another place. A folder or a bucket that is copied whole
/// brings it along.
extension AssetStore {
    /// Of the contents that records name, how many are looked for in a place without a mark.
    private static let sampleMax = 20
    private static let retrySeconds = 60.0

    /// Looks for the mark, and makes it where the database has none. Returns what whoever runs the
    /// service should know; nil where all is well.
    func settleHome() throws(RecordError) -> RecordError? {
        var mark = try backend.read { try $0.assetHome() }
        if mark == nil { mark = try makeMark() }
        guard let mark else { return problem("has none of the assets that records name") }
        let isHome = try has(mark)
        isElsewhere.withLock { $0 = !isHome }
        return isHome
            ? nil : problem("is not where the other services on the database keep them")
    }

    /// Throws TRY_AGAIN_LATER where assets would come and go at another place than the others'.
    func requireHome() throws(RecordError) {
        guard isElsewhere.withLock({ $0 }) else { return }
        var error = RecordError(
            .tryAgainLater, "This service does not reach the assets; try again later.")
        error.retryAfterSeconds = Self.retrySeconds
        throw error
    }

    private func problem(_ what: String) -> RecordError {
        let place = bucket?.place ?? files.knownRoot?.path ?? "memory"
        return RecordError(
            .internalError,
            "The place of assets, \(place), \(what). Give all services the same --assets, and copy "
                + "there what lies here. docs/POSTGRESQL.md says what to do where it is lost.")
    }

    private func has(_ content: NamedAsset) throws(RecordError) -> Bool {
        if let bucket { return try bucket.has(content) }
        return try files.copy(of: content.checksum, size: content.size) != nil
    }

    /// nil where records name assets and none of them is here.
    private func makeMark() throws(RecordError) -> NamedAsset? {
        let named = try backend.read { try $0.namedAssets(after: nil, limit: Self.sampleMax) }
        var isKnownHere = named.isEmpty
        for content in named where !isKnownHere { isKnownHere = try has(content) }
        guard isKnownHere else { return nil }
        let drawn = try keepMark()
        let now = now
        let mark = try backend.write { transaction in
            if let other = try transaction.assetHome() { return other }
            // A content that is known, and no candidate for removal.
            try transaction.addAsset(drawn.checksum, size: drawn.size, at: now)
            try transaction.setAsset(drawn.checksum, idleSince: nil)
            try transaction.setAssetHome(drawn)
            return drawn
        }
        if mark.checksum != drawn.checksum { try remove(drawn.checksum) }
        return mark
    }

    private func keepMark() throws(RecordError) -> NamedAsset {
        let file = try files.begin()
        try file.append("Assets of a Diptych record service: \(try drawnWords())")
        let mark = NamedAsset(checksum: try file.finish(), size: file.size)
        if let bucket {
            try bucket.keep(file, as: mark.checksum)
        } else {
            try files.keep(file, as: mark.checksum)
        }
        return mark
    }
}

extension RecordService {
    /// Looks whether the assets of this service are where those of the others on its database are.
    /// Returns what whoever runs it should know; nil where all is well. While they are elsewhere,
    /// uploads and downloads are TRY_AGAIN_LATER. Call it at the start, and now and then, where
    /// services share a database. Cost: a read, and a look into the folder or bucket.
    public func settleAssetPlace() -> RecordError? {
        do throws(RecordError) {
            return try assets.settleHome()
        } catch {
            return error
        }
    }
}
