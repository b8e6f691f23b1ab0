internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

extension MirroredStore {
    /// Where the store was migrated to another version of its model, the ledger follows.
    func noticeModel(_ mirror: MirrorTransaction) throws {
        let ledger = mirror.ledger
        let known = try ledger.setting(.modelDigest)?.string
        let text = try ledger.setting(.modelCatalog)?.string
        if known == settings.modelDigest, text != nil, try ledger.keepsCounts() { return }
        _ = try ledger.prepare()
        let former = text.flatMap(ModelCatalog.init)
        var keepsAside = former?.keepsAside ?? (known == nil)
        if let known, known != settings.modelDigest {
            var change = try ModelChange(mirror: mirror, former: former)
            try change.run()
            former?.warnOfNamesLetGo(by: ModelCatalog(settings.mapping, keepsAside: keepsAside))
            // Where no migration was needed, the file still has the former one, from which the
            // command would take the names of fields.
            try mirror.store.keepModel(settings.mapping.layout.model)
            if !keepsAside {
                // A store that waits for a share has no zone, and a look gives it none.
                if let zone = try ledger.knownZone() {
                    try ledger.setToken(nil, zone: zone.zoneName)
                }
                keepsAside = true
            }
        } else if former == nil {
            try LedgerNames(mirror: mirror, former: nil).rename()
        }
        try ledger.set(.modelDigest, to: .text(settings.modelDigest))
        try ledger.set(
            .modelCatalog,
            to: .text(ModelCatalog(settings.mapping, keepsAside: keepsAside).text))
    }
}
