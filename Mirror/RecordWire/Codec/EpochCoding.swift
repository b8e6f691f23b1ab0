/// Epochs, client states and replays on the wire. (SERVICE §8, epochs)
extension WireObject {
    func client() throws -> ClientState? {
        guard let object = try object("client") else { return nil }
        try object.allow(["instance", "round", "nonce", "witness", "writeIDs"])
        var client = ClientState(
            instance: try object.required("instance", object.string),
            round: try object.required("round", object.integer),
            nonce: try object.required("nonce", object.string),
            witness: try object.string("witness"))
        client.wantsWriteIDs = try object.bool("writeIDs") ?? false
        return client
    }

    func replay() throws -> Replay {
        try allow(["tag", "version"])
        return Replay(tag: try required("tag", string), version: try string("version"))
    }

    /// nil where there is none, or one that this version cannot read.
    func epochLine() throws -> EpochLine? {
        guard let object = try object("epochs"),
            let incarnation = try object.identifier("incarnation"),
            let epochs = try object.objects("line", { try $0.epoch() })
        else { return nil }
        return EpochLine(
            incarnation: incarnation, floor: try object.integer("floor") ?? 0,
            newest: try object.required("newest", object.integer), epochs: epochs)
    }

    private func epoch() throws -> EpochLine.Epoch {
        EpochLine.Epoch(
            id: try required("epoch") { try identifier($0) },
            first: try required("first", integer))
    }

    private func identifier(_ key: WireKey) throws -> UInt64? {
        try string(key).flatMap { UInt64($0, radix: 36) }
    }
}

extension JSONWriter {
    mutating func member(_ name: String, _ client: ClientState?) {
        guard let client else { return }
        key(name)
        object {
            $0.member("instance", client.instance)
            $0.member("round", client.round)
            $0.member("nonce", client.nonce)
            $0.member("witness", client.witness)
            if client.wantsWriteIDs { $0.member("writeIDs", true) }
        }
    }

    mutating func member(_ name: String, _ line: EpochLine?) {
        guard let line else { return }
        key(name)
        object { writer in
            writer.member("incarnation", String(line.incarnation, radix: 36))
            writer.member("floor", line.floor)
            writer.member("newest", line.newest)
            writer.key("line")
            writer.array(line.epochs) { writer, epoch in
                writer.object {
                    $0.member("epoch", String(epoch.id, radix: 36))
                    $0.member("first", epoch.first)
                }
            }
        }
    }

    /// Writes which writes, and which lost versions, a record contains.
    mutating func origins(of record: Record) {
        if !record.recentWriteIDs.isEmpty { member("writeIDs", record.recentWriteIDs) }
        guard !record.replays.isEmpty else { return }
        key("replays")
        array(record.replays) { writer, replay in
            writer.object {
                $0.member("tag", replay.tag)
                $0.member("version", replay.version)
            }
        }
    }
}
