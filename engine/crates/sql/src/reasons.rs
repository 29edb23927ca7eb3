//! What may speak against keeping a result besides its text: each part of the engine that keeps results has its own list.

/// A list of names, each with what it means: the enums `Own`, of these, and `Reason`, which is one of them or a refusal.
#[macro_export]
macro_rules! reasons {
    ($($variant:ident $name:literal $text:literal;)*) => {
        /// What a session, a table or a response has against it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Own { $($variant,)* }

        const OWN: &[(&str, &str)] = &[$(($name, $text),)*];

        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Reason {
            Own(Own),
            Text($crate::Refusal),
        }

        impl From<Own> for Reason {
            fn from(own: Own) -> Self {
                Reason::Own(own)
            }
        }

        impl Reason {
            const COUNT: usize = OWN.len() + $crate::Refusal::ALL.len();

            /// Below their count.
            pub fn index(self) -> usize {
                match self {
                    Reason::Own(own) => own as usize,
                    Reason::Text(refusal) => OWN.len() + refusal as usize,
                }
            }

            /// Name and explanation of each, by its index.
            fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
                let of_texts = $crate::Refusal::ALL.iter().map(|refusal| (refusal.name(), refusal.explain()));
                OWN.iter().copied().chain(of_texts)
            }
        }
    };
}
