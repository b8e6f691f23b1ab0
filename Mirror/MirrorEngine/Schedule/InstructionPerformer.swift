package import RecordWire

/// Performs the machine's instructions that concern the store. Those that concern the world outside
/// (requests, waiting, the end) are their driver's.
package struct InstructionPerformer: Sendable {
    package let mirrored: MirroredStore
    /// Names service and container, so that a store is not mirrored with two.
    package let container: String
    /// How the service speaks.
    package var dialect: ServiceDialect
    /// Operations that the service takes in one request.
    package var operationsMax: Int
    /// The user, where it is known who.
    package var caller: CallerReply?
    /// What the service takes of assets.
    package var assets = AssetSupport.none

    package init(
        mirrored: MirroredStore, container: String, dialect: ServiceDialect = .extended
    ) {
        self.mirrored = mirrored
        self.container = container
        self.dialect = dialect
        operationsMax = dialect.operationsMax
    }

    /// Performs a store instruction and returns what came of it; nil for an instruction of the
    /// outside's.
    package func perform(
        _ instruction: MirrorMachine.Instruction
    ) throws -> MirrorMachine.Event? {
        switch instruction {
        case .prepare:
            return try prepared()
        case .noteZone:
            try mirrored.noteZoneExists()
            return .noted
        case .apply(let page, let request):
            guard let outcome = try mirrored.apply(page, to: request) else {
                return try prepared()
            }
            return .applied(
                outcome, moreComing: page.moreComing || outcome.readsAgain,
                token: outcome.readsAgain ? nil : page.syncToken)
        case .applyRecords(let records, let line, let request):
            guard let outcome = try mirrored.apply(records, line, to: request) else {
                return try prepared()
            }
            return .applied(outcome, moreComing: false, token: nil)
        case .analyse:
            let (waiting, moreWaiting) = try mirrored.analyse()
            return .analysed(waiting: waiting, moreWaiting: moreWaiting)
        case .build(let recordsMax):
            let max = min(recordsMax ?? .max, operationsMax)
            return .built(try mirrored.nextBatch(recordsMax: max, assets: assets))
        case .planDownloads(let records):
            return .planned(try mirrored.assetsToDownload(for: records))
        case .keepReceipt(let asset, let upload):
            try mirrored.keepReceipt(asset, of: upload)
            return .noted
        case .keepName(let download):
            try mirrored.keepName(of: download)
            return .noted
        case .refuseUpload(let upload, let error):
            try mirrored.refuse(upload, error)
            return .noted
        case .refuse(let batch, let error): return .recorded(try mirrored.refuse(batch, error))
        case .record(let batch, let reply): return .recorded(try mirrored.record(batch, reply))
        case .reconcile:
            try mirrored.reconcile()
            return .noted
        case .renewInstance(let round):
            try mirrored.renewInstance(after: round)
            return .noted
        case .forgetZone:
            try mirrored.forgetZone()
            return .noted
        case .leaveZone:
            try mirrored.leaveZone()
            return .noted
        case .send, .wait, .finish, .upload, .download: return nil
        }
    }

    /// Where a share has ended which this session had, the round ends as if it had found that.
    private func prepared() throws -> MirrorMachine.Event {
        do {
            return .prepared(
                try mirrored.prepare(container: container, caller: caller, dialect: dialect))
        } catch let error as MirrorError where error.code == .shareEnded {
            return .failed(.permanent(error))
        }
    }
}
