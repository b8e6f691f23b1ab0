/// What the outside decides comes through Platform only, so that a simulation can decide it.
extension Rule {
    static let outside = [clock, chance, sleep, looseTasks, machinePaths]

    private static let isBelowTools: @Sendable (SourceFile) -> Bool = { file in
        file.isSwift && ["Sources", "Mirror"].contains(file.area) && file.module != "Platform"
    }

    static let clock = forbidding(
        "Below Tools only Platform reads the clock; ask platform.clock.now().",
        #"\bDate\(\)|\bDate\.now\b|\bDate\.init\(\)|\bContinuousClock\b|\bSuspendingClock\b"#,
        where: isBelowTools)

    static let chance = forbidding(
        "Below Tools only Platform draws random numbers; ask platform.randomness.",
        #"\bUUID\(\)|\bUUID\.init\b|\.random\(|\.shuffle[d]?\(|\.randomElement\("#,
        where: isBelowTools)

    static let sleep = forbidding(
        "Below Tools nothing sleeps; the machine asks to be woken.",
        #"\bTask\.sleep|\bThread\.sleep|\b(?<![.\w])u?sleep\("#, where: isBelowTools)

    static let looseTasks = forbidding(
        "Below Tools no task runs loose; structured tasks and Platform's threads can be simulated.",
        #"\bTask\.detached|\bTask\s*(\([^)]*\))?\s*\{|\bDispatchQueue\.global"#,
        where: isBelowTools)

    static let machinePaths = forbidding(
        "No file names a folder of one machine; locate things from the package's folder.",
        #"(?<![\w.)}-])/(home|Users|work|root|mnt|opt/swift)/[\w.]"#, inComments: true
    ) { _ in true }
}
