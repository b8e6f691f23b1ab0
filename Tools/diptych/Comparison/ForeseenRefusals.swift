internal import MirrorEngine
internal import RecordWire

/// What a service will refuse of a store's edits, as far as that is known before they are sent:
/// what others share for reading only, and what others made in the public database.
struct ForeseenRefusals: Sendable {
    let mirrored: MirroredStore
    /// Is only asked.
    let channel: any RecordChannel

    /// Why each operation will be refused, in their order; nil for one that may be sent. Throws
    /// what reading the store, or asking who the user is, throws.
    func refusals(of operations: [RecordOperation]) async throws -> [RecordError?] {
        switch mirrored.settings.database {
        case .private: operations.map { _ in nil }
        case .shared: try operations.map(refusalOfReader)
        case .public: try await refusalsOfStranger(operations)
        }
    }

    private func refusalOfReader(_ operation: RecordOperation) throws -> RecordError? {
        guard try mirrored.permission(toWrite: operation.record) == .readOnly else { return nil }
        return RecordError(
            .accessDenied, "The share is open to you for reading only.",
            recordName: operation.record.recordName)
    }

    private func refusalsOfStranger(
        _ operations: [RecordOperation]
    ) async throws -> [RecordError?] {
        guard let user = try await user() else {
            return operations.map { operation in
                RecordError(
                    .authenticationRequired,
                    "Who is not signed in may only read the public database; give a user's token.",
                    recordName: operation.record.recordName)
            }
        }
        return try operations.map { operation in
            let name = operation.record.recordName
            guard let maker = try mirrored.exchangedRecord(named: name)?.created?.userRecordName,
                maker != user
            else { return nil }
            return RecordError(
                .accessDenied,
                "The record is another user's, and is refused unless a role lets you change it.",
                recordName: name)
        }
    }

    /// The user's record name; nil for one who is not signed in.
    private func user() async throws -> String? {
        do {
            guard case .caller(let reply) = try await channel.send(.caller) else { return nil }
            return reply.userRecordName
        } catch let error as RecordError where error.code.canonical == .authenticationRequired {
            return nil
        }
    }
}
