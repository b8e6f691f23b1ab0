internal import SQLiteDriver

extension SQLiteTransaction {
    func usage() throws -> [ContainerUsage] {
        try atOthers(try containers()) { try $0.ownUsage() }.flatMap(\.self)
    }

    private func ownUsage() throws -> [ContainerUsage] {
        try connection.rows(
            """
            SELECT d.container, d.environment, count(DISTINCT d.owner), count(z.id),
                total(r.live), total(r.gone), total(r.bytes)
            FROM databases d LEFT JOIN zones z
                ON z.database = d.id AND z.deleted = 0 AND d.scope <> 'shared'
            LEFT JOIN (
                SELECT zone, count(*) FILTER (WHERE deleted = 0) AS live,
                    count(*) FILTER (WHERE deleted <> 0) AS gone, sum(length(fields)) AS bytes
                FROM records GROUP BY zone) r ON r.zone = z.id
            GROUP BY d.container, d.environment ORDER BY d.container, d.environment
            """
        ).map { row in
            func number(_ column: Int) -> Int { row[column].double.map { Int($0) } ?? 0 }
            return ContainerUsage(
                container: row[0].string ?? "", environment: row[1].string ?? "",
                users: number(2), zones: number(3), records: number(4), deletions: number(5),
                bytes: Int64(number(6)))
        }
    }
}
