"""The smoothed losses of programs: values, multipliers and Hessians, without forming pairs."""
