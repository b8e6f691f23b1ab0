internal import Platform
internal import SQLiteDriver

/// Records of deleted zones are removed a slice at a time; between two slices others have their
/// turn on the lane.
extension SQLiteFile {
    func removeLater() {
        let isFirst = isRemoving.withLock { isRemoving in
            defer { isRemoving = true }
            return !isRemoving
        }
        if isFirst { lane.later { [weak self] in self?.removeNext() } }
    }

    private func removeNext() {
        do {
            guard try removeSlice() else { return isRemoving.withLock { $0 = false } }
            lane.later { [weak self] in self?.removeNext() }
        } catch {
            // The next deletion or start goes on with it.
            isRemoving.withLock { $0 = false }
            _ = failures.translate(error)
        }
    }

    private func removeSlice() throws -> Bool {
        try withWriter { writer in
            try writer.transaction(.immediate) {
                try settings.platform.faults.reach("service.removeSlice")
                return try SQLiteTransaction(writer).removeDoomedSlice()
            }
        }
    }

    /// Removes all of them now.
    func removeDoomedRecords() throws {
        while try working(removeSlice) {}
    }
}
