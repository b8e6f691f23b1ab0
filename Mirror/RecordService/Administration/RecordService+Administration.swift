package import RecordWire

/// What is administered in the service's own process.
extension RecordService {
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
