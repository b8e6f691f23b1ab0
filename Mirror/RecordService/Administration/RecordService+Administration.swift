package import RecordWire

/// Where the records of a service are.
package enum StorageKind: String, Codable, Sendable {
    case files, postgres, memory
}

/// What is administered in the service's own process.
extension RecordService {
    /// Only what is in files is backed up by the service itself.
    package var storageKind: StorageKind {
        guard let sqlite = backend as? SQLiteBackend else { return .postgres }
        return sqlite.main.isInMemory ? .memory : .files
    }

    /// Work on the same rows, noted under `name`.
    package func administration(as name: String) -> ServiceAdministration {
        ServiceAdministration(of: backend, accounts.acting(as: name))
    }

    /// Looks through the bucket of assets, as `ServiceAdministration.compareObjects` does, and
    /// removes what nothing names where `remover` is named, under whom that is noted. Throws
    /// BAD_REQUEST where assets are in a folder, through which the service itself looks each day.
    package func compareObjects(
        removedBy remover: String? = nil, _ tell: (ObjectFinding) -> Void
    ) throws(RecordError) -> ObjectReport {
        guard let bucket = assets.bucket else {
            throw RecordError(
                .badRequest,
                "The assets are in a folder, which the service itself looks through each day.")
        }
        return try administration(as: remover ?? "").compareObjects(
            in: bucket, graceSeconds: limits.assets.graceSeconds, removes: remover != nil, tell)
    }
}
